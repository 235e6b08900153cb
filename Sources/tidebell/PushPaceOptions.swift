// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellPush

/// The options of `tidebell serve` that keep a push from waking everybody at once
/// (PUSH-2, PUSH-6).
struct PushPaceOptions: ParsableArguments {
    /// The longest delay that can be asked for: a push that is later is no news.
    private static let longest = 600.0

    @Option(
        help: ArgumentHelp(
            """
            How long a change waits for further changes to be delivered together; 1 is a good value \
            for a busy cloud in production.
            """,
            valueName: "seconds"
        )
    )
    var coalescingWindow = 0.0

    @Option(
        help: ArgumentHelp(
            """
            The time over which the background pushes of one change are spread among the connected \
            devices, so that not all of them fetch at once.
            """,
            valueName: "seconds"
        )
    )
    var pushSpread = 0.0

    func validate() throws {
        for (name, value) in [
            ("--coalescing-window", coalescingWindow), ("--push-spread", pushSpread),
        ] where !(0...Self.longest).contains(value) {
            throw ValidationError("\(name) must be 0 to \(Int(Self.longest)) seconds.")
        }
    }

    /// Puts the options into a configuration.
    func apply(to push: inout PushConfiguration) {
        push.coalescingWindow = .seconds(coalescingWindow)
        push.spread = .seconds(pushSpread)
    }
}
