// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
import TidebellScheduling
import TidebellWire

/// The cookie of one page: by it a browser is known again there, and nowhere else.
///
/// It is no web token: the store has a hash of it that a key of its own makes, so that it means
/// nothing to the API, nor a web token anything here.
struct PageCookie: Sendable {
    static let name = "tidebell-page"
    /// The name of the one by which a browser is known that comes back from an identity provider to a page which
    /// its own cookie is not sent to.
    static let visitName = "tidebell-visit"

    let name: String
    /// The path that browsers send it to.
    let path: String
    private let key: [UInt8]
    /// What the browser sent; nil without one, or with several that differ: another page of the host may
    /// have put one there, and which one is this page's nobody knows.
    private(set) var secret: String?
    /// Whether the browser does not have it yet.
    private(set) var isNew = false

    /// Reads the cookie of a request.
    init(of request: WebRequest, path: String, key: [UInt8], named name: String = Self.name) {
        self.name = name
        self.path = path
        self.key = key
        var secrets: Set<String> = []
        for header in request.headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name,
                    Hex.bytes(parts[1]) != nil,
                    [0, CellNumber.digitCount].contains(
                        parts[1].utf8.count - WebTokenHash.secretLength)
                else { continue }
                secrets.insert(String(parts[1]))
            }
        }
        secret = secrets.count == 1 ? secrets.first : nil
    }

    /// Returns one with a secret that follows from this one's, under another name and path; nil without a secret.
    func derived(named name: String, path: String) -> PageCookie? {
        secret.map { secret in
            PageCookie(
                name: name, path: path, key: key,
                secret: Hex.text(KeyDerivation.key(named: "\(name) \(secret)", of: key)))
        }
    }

    private init(name: String, path: String, key: [UInt8], secret: String) {
        (self.name, self.path, self.key, self.secret) = (name, path, key, secret)
    }

    /// Takes another secret, which nobody else knows.
    ///
    /// - Parameter account: Whose session begins with it, which the secret then leads to; nil for nobody's.
    mutating func renew(from randomness: Randomness, for account: AccountID? = nil) {
        let drawn = Secret.make(from: randomness)
        secret = account.map { Secret.webToken(drawn, of: $0) } ?? drawn
        isNew = true
    }

    /// The hash under which the store has the session; nil without a cookie.
    var sessionHash: WebTokenHash? {
        secret.map {
            WebTokenHash(of: $0) { KeyDerivation.key(named: "session \($0)", of: key) }
        }
    }

    /// What a form of the page has, so that no other page can make one for this browser.
    var formToken: String {
        Base64URL.text(KeyDerivation.key(named: "form \(secret ?? "") \(path)", of: key))
    }

    /// Whether a form is one of the page in this browser.
    func isOwn(_ form: PageForm) -> Bool {
        // Hashes are compared, so that the time tells nothing.
        secret != nil && Secret.hash(form[Self.formField]) == Secret.hash(formToken)
    }

    /// The name of the field with ``formToken``.
    static let formField = "token"

    /// The header that sets it.
    ///
    /// - Parameter isSecure: Whether browsers reach the server by https.
    func header(isSecure: Bool) -> String {
        attributes("\(name)=\(secret ?? "")", isSecure: isSecure)
    }

    /// The header that removes it.
    func removal(isSecure: Bool) -> String {
        attributes("\(name)=; Max-Age=0", isSecure: isSecure)
    }

    private func attributes(_ value: String, isSecure: Bool) -> String {
        "\(value); Path=\(path); HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
    }
}
