// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The sign-in of a device that shows a code, as stored: whichever server is asked next goes on with it.
package struct StoredDeviceSignIn: Sendable, Hashable {
    /// Who entered the code.
    package struct Entered: Sendable, Hashable {
        package var account: AccountID
        /// As they wrote it.
        package var name: String
        /// What distinguishes their password from the next one; nil for an account that has none.
        package var proof: [UInt8]?
        /// Whether an identity provider vouched for them.
        package var isByProvider: Bool

        /// Creates a value.
        package init(account: AccountID, name: String, proof: [UInt8]?, isByProvider: Bool) {
            self.account = account
            self.name = name
            self.proof = proof
            self.isByProvider = isByProvider
        }
    }

    /// The hash of the code that the device asks with, and keeps to itself.
    package var hash: [UInt8]
    /// The code that it shows.
    package var userCode: String
    package var container: ContainerKey
    /// By what users of the API token sign in that it showed; nil for all there is.
    package var methods: Set<AppSignIn.Method>?
    package var deviceName: String?
    /// The network it asked from; nil where that is not known.
    package var network: String?
    /// Whose share it takes; nil where that is not known.
    package var address: String?
    package var expiresAt: Instant
    /// Nil while it waits for somebody to enter the code.
    package var entered: Entered?

    /// Creates a row.
    package init(
        hash: [UInt8], userCode: String, container: ContainerKey,
        methods: Set<AppSignIn.Method>? = nil, deviceName: String? = nil, network: String? = nil,
        address: String? = nil, expiresAt: Instant, entered: Entered? = nil
    ) {
        self.hash = hash
        self.userCode = userCode
        self.container = container
        self.methods = methods
        self.deviceName = deviceName
        self.network = network
        self.address = address
        self.expiresAt = expiresAt
        self.entered = entered
    }
}

/// How many sign-ins of devices there are.
package struct DeviceSignInCounts: Sendable, Hashable {
    package var all: Int
    /// Those of one container.
    package var inContainer: Int
    /// Those of one address; zero for an address that is not known.
    package var ofAddress: Int

    /// Creates a value.
    package init(all: Int, inContainer: Int, ofAddress: Int) {
        self.all = all
        self.inContainer = inContainer
        self.ofAddress = ofAddress
    }
}
