// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// One device of one user: its configuration, its way to the server, its clock.
///
/// A process is one device, ``process``. Tests run several in one process: code inside
/// `DeviceSession.$current.withValue(session) { … }` gets its containers on that device.
package final class DeviceSession: Sendable {
    /// The device on which containers are made in this task; nil is the process.
    @TaskLocal package static var current: DeviceSession?

    /// The device that the process is, configured as ``DeviceConfiguration`` describes.
    static let process = DeviceSession(
        variables: ProcessInfo.processInfo.environment
    )

    /// The most operations of a device that run at a time; others wait their turn.
    static let maximumRunningOperations = 256

    /// The configuration, or why there is none.
    let configuration: Result<DeviceConfiguration, CKError>
    let transport: any Transport
    let clock: any Clock<Duration>
    /// Where operations run that were added to a database or a container.
    let operations: OperationQueue

    /// How far the pushes of each container were handled, by file name; what counts on a
    /// device without a state folder.
    let notificationCursors = Locked<[String: String]>([:])

    private let userRecordNames = Locked<[String: String]>([:])
    private let defaultContainer = Locked(WeakContainer())

    /// Creates a device.
    package init(
        configuration: DeviceConfiguration,
        transport: any Transport,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.configuration = .success(configuration)
        self.transport = transport
        self.clock = clock
        operations = Self.makeOperationQueue()
    }

    /// Creates the device that the environment variables describe.
    private init(variables: [String: String]) {
        do {
            let configuration = try DeviceConfiguration.load(environment: variables)
            self.configuration = .success(configuration)
            transport = HTTPTransport(server: configuration.server)
        } catch {
            // Every request fails with the reason; reading it must not need one.
            configuration = .failure(error)
            transport = NoTransport()
        }
        clock = ContinuousClock()
        operations = Self.makeOperationQueue()
    }

    private static func makeOperationQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.name = "CloudKit operations"
        queue.maxConcurrentOperationCount = maximumRunningOperations
        return queue
    }

    /// The container that `CKContainer.default()` returns on this device.
    func makeDefaultContainer() -> CKContainer {
        defaultContainer.withLock { known in
            if let container = known.container { return container }
            let identifier = (try? configuration.get())?.defaultContainer
            let container = CKContainer(
                connection: ContainerConnection(identifier: identifier, session: self)
            )
            known.container = container
            return container
        }
    }

    /// The signed-in user's record name in a container, as far as answers told it.
    func userRecordName(in container: String) -> String? {
        userRecordNames.withLock { $0[container] }
    }

    /// Remembers the signed-in user's record name in a container.
    func learn(userRecordName: String, in container: String) {
        userRecordNames.withLock { $0[container] = userRecordName }
    }
}

/// The default container, kept as long as the app keeps it.
private struct WeakContainer {
    weak var container: CKContainer?
}

/// Stands where there is no configuration, and so no server.
private struct NoTransport: Transport {
    func send(_: TransportRequest, timeout: Duration) async throws -> TransportResponse {
        throw TransportError.unreachable("the device is not configured")
    }

    func stream(_: TransportRequest) async throws -> TransportStream {
        throw TransportError.unreachable("the device is not configured")
    }
}
