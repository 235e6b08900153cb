// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidebellProcesses

/// The main job as a story: a record changes, the other device gets a push, and
/// fetches just what changed.
///
/// Without arguments this program runs the story: it starts a server and three
/// devices, each a process of its own. `feed-demo device` is one such device; its
/// source, `FeedDevice.swift`, is the code an app for Apple's CloudKit would have.
@main
struct FeedDemo {
    static func main() async {
        if CommandLine.arguments.dropFirst().first == "device" {
            await DeviceConsole().run()
            return
        }
        do {
            try await Story().run()
        } catch {
            printLine("\n  The demo failed: \(error)")
            exit(1)
        }
    }
}
