// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What the page behind a share's URL says.
enum SharePageTexts {
    /// What its forms ask for.
    enum Action: String {
        case signIn = "sign-in"
        case openID = "openid"
        case signOut = "sign-out"
        case accept
    }

    /// The page for what is no URL of a share, whoever asks.
    static let noLink = PageTexts.page(
        "No such link",
        """
        <h1>This is not the link of a share</h1>
        <p>Part of the link may be missing. Ask the sender to send it again.</p>
        """)

    /// Returns the page for who is not signed in: the same for every link.
    static func signIn(_ visit: PageVisit, refused error: WireError? = nil) -> HTML {
        return PageTexts.page(
            "Sign in to open a shared link",
            """
            <p class="above">A shared link</p>
            <h1>Sign in to see what is shared</h1>
            \(PageTexts.alert(error))
            \(PageTexts.signInForm(error, of: visit))
            <footer>You stay signed in for half an hour, on this page only.</footer>
            """)
    }

    /// Returns the page of a share that is open to the visitor.
    static func share(
        _ share: ShareInvitation, _ visit: PageVisit, _ session: PageSession
    ) -> HTML {
        let title: HTML = share.title.map { "<bdi>\($0)</bdi>" } ?? "Something without a title"
        let link = visit.shareApps.link(toShareAt: visit.url, in: share.container)
        let what =
            share.isZoneWide ? "A zone with everything in it" : "An item with everything below it"
        let may = share.permission == .readWrite ? "View and change it" : "View it"
        let heading: HTML
        let next: HTML
        switch (share.role, share.status) {
        case (.owner, _):
            heading = "You share this"
            next = "<p>Send this page's address to those you share it with.</p>\(open(link))"
        case (_, .accepted):
            heading = "You take part"
            next = """
                <p role="status">It is in the app on every device where you are signed in as \
                <bdi>\(session.userName)</bdi>.</p>
                \(open(link))
                """
        default:
            heading = "Shared with you"
            next = """
                \(PageTexts.form(Action.accept.rawValue, of: visit, "<button>Accept</button>"))
                \(open(link, isSecond: true))
                """
        }
        return PageTexts.page(
            "A shared link",
            """
            <p class="above">\(heading)</p>
            <h1>\(title)</h1>
            <dl>
            \(owner(of: share))
            <dt>App</dt><dd>\(share.container.container)\(environment(of: share))</dd>
            <dt>What</dt><dd>\(what)</dd>
            <dt>You may</dt><dd>\(may)</dd>
            </dl>
            \(next)
            \(footer(visit, session))
            """)
    }

    private static func owner(of share: ShareInvitation) -> HTML? {
        guard share.role != .owner else { return nil }
        let name: HTML =
            share.ownerAddress.map { "<bdi>\($0)</bdi>" }
            ?? "Another user, who is not shown by name"
        return "<dt>From</dt><dd>\(name)</dd>"
    }

    private static func environment(of share: ShareInvitation) -> HTML? {
        share.container.environment == .development ? " (development)" : nil
    }

    private static func open(_ link: String?, isSecond: Bool = false) -> HTML? {
        link.map { link in
            let style: HTML = isSecond ? "button second" : "button"
            return "<a class=\"\(style)\" href=\"\(link)\" rel=\"noreferrer\">Open in the app</a>"
        }
    }

    /// Returns the page for a signed-in visitor to whom the link leads nowhere.
    static func nothing(_ visit: PageVisit, _ session: PageSession) -> HTML {
        PageTexts.page(
            "Nothing shared",
            """
            <h1>This link leads to nothing that is shared with you</h1>
            <p>Sharing was stopped, part of the link is missing, or it was sent to another user. Ask \
            the sender to share it with the user name below.</p>
            \(footer(visit, session))
            """)
    }

    /// Returns the page for a visitor who may have been invited by an address of theirs.
    static func unverified(_ visit: PageVisit, _ session: PageSession) -> HTML {
        PageTexts.page(
            "Address not known",
            """
            <h1>This was sent to an address that no account has</h1>
            <p>If it is yours, ask the operator of this server to add the address to your account, \
            and open the link again.</p>
            \(footer(visit, session))
            """)
    }

    private static func footer(_ visit: PageVisit, _ session: PageSession) -> HTML {
        """
        <footer>Signed in as <bdi>\(session.userName)</bdi>.
        \(PageTexts.form(Action.signOut.rawValue, of: visit, "<button>Sign out</button>"))
        </footer>
        """
    }
}
