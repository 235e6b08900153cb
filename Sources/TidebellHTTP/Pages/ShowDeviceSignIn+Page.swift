// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// The page on which somebody enters the code that a device shows, and signs in on it.
///
/// It says which device asks, from where and for which app, before it asks for a password: whoever is sent
/// a code by a stranger can see that it is not theirs.
extension ShowDeviceSignIn: WebPage {
    package static var takesArgument: Bool { false }
    package static var isAboutAccount: Bool { true }

    static let action = "allow"
    /// The same by the identity provider.
    static let providerAction = "openid"

    /// Asks for the code, then for the user, and lets the device in.
    package static func respond(to visit: PageVisit) async throws -> WebResponse {
        guard let text = try visit.target.parameter("code") else {
            return visit.answer(codeForm())
        }
        let now = visit.cloud.time.now()
        guard let code = DeviceSignIns.canonical(text),
            let device = try await visit.cloud.store.read({
                try DeviceSignIns.pending(code, at: now, in: $0)
            })
        else { throw PageRefusal(404, codeForm(isUnknown: true)) }
        switch visit.form?["action"] {
        case action? where device.offers(.password): break
        case providerAction? where device.offers(.provider):
            return try await visit.leave(for: .device(code))
        default: return visit.answer(form(device, visit))
        }
        let known = try await visit.account { form(device, visit, refused: $0) }
        try await visit.letIn(known, toDeviceWith: code)
        return visit.answer(done)
    }

    fileprivate static func codeForm(isUnknown: Bool = false) -> HTML {
        let alert: HTML? =
            isUnknown
            ? """
            <p class="alert" id="alert" role="alert">No device is waiting with this code: it was used already, \
            it has expired, or it is misspelled.</p>
            """ : nil
        return PageTexts.page(
            "Sign in on a device",
            """
            <h1>Sign in on a device</h1>
            <p>Enter the code that the device shows.</p>
            \(alert)
            <form method="get">
            <label for="code">Code</label>
            <input id="code" name="code" autocomplete="off" autocapitalize="characters" spellcheck="false" \
            required>
            <button>Continue</button>
            </form>
            """)
    }

    private static func form(
        _ device: StoredDeviceSignIn, _ visit: PageVisit, refused error: WireError? = nil
    ) -> HTML {
        let environment = device.container.environment == .development ? " (development)" : ""
        let name: HTML? = device.deviceName.map { "<dt>Device</dt><dd><bdi>\($0)</bdi></dd>" }
        let byPassword = device.offers(.password)
        let fields: HTML = """
            \(PageTexts.signInFields(error, name: visit.form?["user"] ?? ""))
            <button name="action" value="\(action)">Sign in on the device</button>
            """
        let provider =
            device.offers(.provider)
            ? PageTexts.providerButton(visit, providerAction, isAlone: !byPassword) : nil
        return PageTexts.page(
            "Sign in on a device",
            """
            <h1>Sign in on this device?</h1>
            <dl>
            <dt>Code</dt><dd>\(device.userCode)</dd>
            \(name)
            <dt>Asked from</dt><dd>\(device.network ?? "an address that is not known")</dd>
            <dt>For</dt><dd>\(device.container.container + environment)</dd>
            </dl>
            <p>Anyone who uses the device can then read and change your data in this app. Continue only if your \
            own device shows this code.</p>
            \(PageTexts.alert(error))
            \(PageTexts.form(nil, of: visit, "\(byPassword ? fields : nil)\(provider)"))
            """)
    }

    static let done = PageTexts.page(
        "Signed in",
        """
        <h1>The device is signed in</h1>
        <p role="status">Continue on the device; it takes a few seconds. You can close this page.</p>
        <footer><a href="account">Your account</a> shows where you are signed in, and signs you out.</footer>
        """)
}

extension PageVisit {
    /// Lets somebody in on the device that shows a code; fails where nobody waits for it any more.
    func letIn(_ known: KnownUser, toDeviceWith code: String) async throws {
        let (entered, now) = (known.entered, cloud.time.now())
        let isWaiting = try await cloud.store.write(.store, for: entered.account) {
            try $0.enterDeviceSignIn(userCode: code, by: entered, at: now)
        }
        guard isWaiting else {
            throw PageRefusal(404, ShowDeviceSignIn.codeForm(isUnknown: true))
        }
    }
}

extension StoredDeviceSignIn {
    /// Whether somebody may sign in so on the device.
    fileprivate func offers(_ method: AppSignIn.Method) -> Bool {
        AppSignIn(methods: methods).offers(method)
    }
}
