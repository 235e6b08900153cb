// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The one rule for e-mail addresses and phone numbers: of accounts, of participants, in look-ups.
package enum UserAddress {
    /// The most characters of an e-mail address (RFC 5321), and of a phone number with what people
    /// write between its digits.
    private static let (mostOfEmail, mostOfPhone) = (254, 40)

    /// Returns an address as it is stored and compared: an e-mail address in NFC and lower case, a
    /// phone number without what people write between its digits. Nil for what can be none.
    package static func canonical(_ address: UserLookup) -> UserLookup? {
        switch address {
        case .userRecordName: nil
        case .emailAddress(let text): email(text).map { .emailAddress($0) }
        case .phoneNumber(let text): phone(text).map { .phoneNumber($0) }
        }
    }

    /// Returns what an operator typed as an address: what has an `@` is an e-mail address, and a
    /// phone number has its country code.
    package static func parsed(_ text: String) -> UserLookup? {
        if text.contains("@") { return canonical(.emailAddress(text)) }
        return text.contains("+") ? canonical(.phoneNumber(text)) : nil
    }

    private static func email(_ text: String) -> String? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard text.utf8.count <= mostOfEmail, parts.count == 2,
            parts.allSatisfy({ !$0.isEmpty }), !text.contains(where: \.isWhitespace)
        else { return nil }
        return UserName.composed(text).lowercased()
    }

    private static func phone(_ text: String) -> String? {
        let signs = text.unicodeScalars
        let isDigit = { (sign: Unicode.Scalar) in ("0"..."9").contains(sign) }
        guard text.utf8.count <= mostOfPhone, signs.contains(where: isDigit),
            signs.allSatisfy({ isDigit($0) || "+-/.() ".unicodeScalars.contains($0) })
        else { return nil }
        let digits = String(String.UnicodeScalarView(signs.filter(isDigit)))
        let isInternational = signs.first { isDigit($0) || $0 == "+" } == "+"
        return isInternational ? "+" + digits : digits
    }
}

extension UserLookup {
    /// The same for everything that means the same: an address in its canonical form.
    var compared: UserLookup { UserAddress.canonical(self) ?? self }

    /// The address as people write it; nil for a record name.
    package var addressText: String? {
        switch self {
        case .userRecordName: nil
        case .emailAddress(let text), .phoneNumber(let text): text
        }
    }
}
