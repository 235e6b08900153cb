// SPDX-License-Identifier: Apache-2.0

// How a device without a browser signs in (after RFC 8628): it shows a code, somebody enters it on the
// server's page with their password, and the device asks until that is done.

/// `account/deviceCode`, an extension: begins the sign-in of a device.
package enum BeginDeviceSignIn: WireEndpoint {
    package static let route = WireRoute(
        .of(.ext, "account/deviceCode"), for: .anyone, .repeatable, serverKeys: .denied)

    /// What the device says about itself.
    package struct Request: WireBody, Hashable {
        /// What the page calls it; nil for nothing.
        package var deviceName: String?

        /// Creates a request.
        package init(deviceName: String? = nil) { self.deviceName = deviceName }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            var name: String?
            try reader.readObject { reader, member in
                guard try !reader.readNull() else { return }
                guard member == "deviceName" else { return try reader.skipValue() }
                name = try reader.readString()
            }
            deviceName = name
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("deviceName", deviceName) }
        }
    }

    /// What the device shows, and what it keeps.
    package struct Response: WireBody, Hashable {
        /// What the device asks with; nobody else learns it.
        package var deviceCode: String
        /// What the user enters.
        package var userCode: String
        /// The page where they do; with `?code=` and the code behind it, it has it already.
        package var verificationURL: String
        /// How many seconds the codes are good.
        package var expiresIn: Int
        /// How many seconds there are to be between two questions.
        package var interval: Int

        /// Creates an answer.
        package init(
            deviceCode: String, userCode: String, verificationURL: String, expiresIn: Int,
            interval: Int
        ) {
            self.deviceCode = deviceCode
            self.userCode = userCode
            self.verificationURL = verificationURL
            self.expiresIn = expiresIn
            self.interval = interval
        }

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.member("deviceCode", deviceCode)
                writer.member("userCode", userCode)
                writer.member("verificationURL", verificationURL)
                writer.member("expiresIn", expiresIn)
                writer.member("interval", interval)
            }
        }

        /// Reads the answer.
        package init(from reader: inout JSONReader) throws {
            var (device, user, url): (String?, String?, String?)
            var (expiresIn, interval): (Int?, Int?)
            try reader.readObject { reader, member in
                switch member {
                case "deviceCode": device = try reader.readString()
                case "userCode": user = try reader.readString()
                case "verificationURL": url = try reader.readString()
                case "expiresIn": expiresIn = try reader.readInt()
                case "interval": interval = try reader.readInt()
                default: try reader.skipValue()
                }
            }
            guard let device, let user, let url, let expiresIn, let interval else {
                throw JSONError("missing required field of a device's sign-in")
            }
            self.init(
                deviceCode: device, userCode: user, verificationURL: url, expiresIn: expiresIn,
                interval: interval)
        }
    }
}

/// `account/deviceToken`, an extension: asks whether the user has entered the code, and gives the device
/// its web token then, once.
package enum FinishDeviceSignIn: WireEndpoint {
    package static let route = WireRoute(
        .of(.ext, "account/deviceToken"), for: .anyone, .writes, serverKeys: .denied)

    /// Which device asks.
    package struct Request: WireBody, Hashable {
        package var deviceCode: String

        /// Creates a request.
        package init(deviceCode: String) { self.deviceCode = deviceCode }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            deviceCode = try reader.readOnly("deviceCode")
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { $0.member("deviceCode", deviceCode) }
        }
    }

    /// What became of it.
    package enum Response: WireBody, Hashable {
        /// Nobody has entered the code yet.
        case pending
        /// The device is signed in.
        case signedIn(SignIn.Response)

        /// Writes the answer.
        package func write(to writer: inout JSONWriter) {
            switch self {
            case .pending: writer.object { $0.member("pending", true) }
            case .signedIn(let response): response.write(to: &writer)
            }
        }

        /// Reads the answer.
        package init(from reader: inout JSONReader) throws {
            var isPending = false
            var look = reader
            try look.readObject { reader, member in
                guard member == "pending" else { return try reader.skipValue() }
                isPending = try reader.readBool()
            }
            if isPending {
                reader = look
                self = .pending
            } else {
                self = .signedIn(try SignIn.Response(from: &reader))
            }
        }
    }
}
