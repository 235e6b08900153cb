// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// A terminal that this process holds the other end of.
private final class Terminal {
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    private let master: Int32
    private(set) var text = ""

    /// Where programs open it.
    let path: String

    init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (isLocked, number) = (Int32(0), Int32(0))
        // Swift's Glibc has none of the functions for it: what they do on Linux.
        try #require(ioctl(master, Self.setLock, &isLocked) == 0)
        try #require(ioctl(master, Self.getNumber, &number) == 0)
        path = "/dev/pts/\(number)"
        try #require(fcntl(master, F_SETFL, O_NONBLOCK) == 0)
    }

    deinit { close(master) }

    /// Whether what is typed is shown.
    var echoes: Bool {
        var attributes = termios()
        return tcgetattr(master, &attributes) == 0 && attributes.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Types.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Waits until a text was shown.
    func until(_ sought: String) async {
        await eventually {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(master, &buffer, buffer.count)
            if count > 0 { text += String(decoding: buffer[..<count], as: UTF8.self) }
            return text.contains(sought)
        }
    }
}

/// What commands do to the terminal they are started at.
@Suite(.hangs)
struct TerminalTests {
    @Test("A terminal shows again what is typed after Control-C at the question for a password")
    func interrupted() async throws {
        let program = try Built.tidebell()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let terminal = try Terminal()
        // The shell outlives the command, so that nobody else puts the terminal right.
        let shell = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", #"exec setsid -c -w sh -c "$0" "$@" < "$1" > "$1" 2>&1"#,
                #"trap : INT; "$1" user password anna --data "$2"; echo "ended: $?"; read line"#,
                terminal.path, program.executable.path, program.dataFolder.path,
            ]
        )
        await terminal.until("New password: ")
        await eventually { !terminal.echoes }
        terminal.type("\u{3}")
        await terminal.until("ended: 130")
        #expect(terminal.echoes)
        #expect(!terminal.text.contains("changed"))
        terminal.type("\n")
        _ = await shell.waitUntilExit()
    }
}
