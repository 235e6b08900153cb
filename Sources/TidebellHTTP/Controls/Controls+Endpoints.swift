// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// An endpoint by which a test holds the server: for who has a management token, where the server was
/// started for it.
package protocol ControlEndpoint: WireEndpoint {
    /// Answers a request; what the caller caused is thrown as `WireError`.
    static func respond(
        to body: [UInt8], by controls: TestControls, in cloud: Cloud
    ) throws -> WebResponse
}

extension MoveClock: ControlEndpoint {
    /// The furthest that one request moves the time: ten years.
    private static let mostSeconds = 3650.0 * 86400

    /// Moves the time, and answers with what it is then.
    package static func respond(
        to body: [UInt8], by controls: TestControls, in cloud: Cloud
    ) throws -> WebResponse {
        if !body.isEmpty {
            let request = try JSONReader.read(body, Request.init(from:))
            guard (0...mostSeconds).contains(request.advance) else {
                throw WireError.badRequest(
                    "advance must be 0 to \(Int(mostSeconds)) seconds: no time goes back")
            }
            controls.advance(.seconds(request.advance))
        }
        let response = Response(now: cloud.time.now().rawValue)
        return .json { response.write(to: &$0) }
    }
}

extension InjectFaults: ControlEndpoint {
    /// Takes the faults where there are any in the request, and answers with those that are to come.
    package static func respond(
        to body: [UInt8], by controls: TestControls, in cloud: Cloud
    ) throws -> WebResponse {
        if !body.isEmpty {
            let request = try JSONReader.read(body, Request.init(from:))
            if let faults = request.faults { controls.faults = faults }
        }
        let response = Response(faults: controls.faults)
        return .json { response.write(to: &$0) }
    }
}
