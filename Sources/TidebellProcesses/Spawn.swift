// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// What `posix_spawn` needs to start a program.
///
/// Foundation's `Process` reads past the end of a directory entry when this process has
/// some 1,350 files open, which ends it.
package struct Spawn {
    let executable: String
    let arguments: [String]
    let environment: [String: String]
    /// The descriptors that become the child's standard input and output.
    let input: Int32
    let output: Int32
    /// Whether standard error goes where standard output goes.
    let mergesErrors: Bool

    package init(
        executable: String, arguments: [String], environment: [String: String], input: Int32,
        output: Int32, mergesErrors: Bool
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.input = input
        self.output = output
        self.mergesErrors = mergesErrors
    }

    /// Descriptors below this one are not handed on to the child, open or not.
    private static let closedDescriptors: Int32 = 8192

    /// Starts the program in a process group of its own; returns its identifier.
    package func start() throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if mergesErrors { posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO) }
        for descriptor in (STDERR_FILENO + 1)..<Self.closedDescriptors {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK))
        var processID: pid_t = 0
        let failure = Self.withCStrings([executable] + arguments) { arguments in
            Self.withCStrings(environment.map { "\($0)=\($1)" }) { environment in
                posix_spawn(
                    &processID, executable, &actions, &attributes, arguments, environment)
            }
        }
        guard failure == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO)
        }
        return processID
    }

    /// Calls `body` with texts as C wants them: a list that ends with nil.
    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}
