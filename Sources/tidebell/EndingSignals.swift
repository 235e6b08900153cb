// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// Brings the terminal back to what it was when the process is stopped while it hides what
/// is typed, as by Control-C.
struct EndingSignals {
    private static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private let sources: [any DispatchSourceSignal]

    /// Watches for the signals until it is cancelled.
    static func restore(_ terminal: termios) -> EndingSignals {
        EndingSignals(
            sources: all.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler {
                    var shown = terminal
                    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
                    FileHandle.standardError.write(Data("\n".utf8))
                    // Then what the signal does to any other program.
                    signal(number, SIG_DFL)
                    kill(getpid(), number)
                }
                source.resume()
                return source
            }
        )
    }

    /// Lets the signals do again what they do.
    func cancel() {
        for source in sources { source.cancel() }
        for number in Self.all { signal(number, SIG_DFL) }
    }
}
