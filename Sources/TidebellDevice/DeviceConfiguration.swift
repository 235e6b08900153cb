// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// What is configured for a device outside the source: its server, its tokens, its folder.
///
/// | environment variable | key in `device.json` | meaning |
/// |---|---|---|
/// | `TIDEBELL_SERVER` | `server` | address; `http://127.0.0.1:8642` when not set |
/// | `TIDEBELL_API_TOKEN` | `apiToken` | API token of the container |
/// | `TIDEBELL_WEB_AUTH_TOKEN` | `webAuthToken` | web token of the signed-in user |
/// | `TIDEBELL_ENVIRONMENT` | `environment` | `development` (when not set) or `production` |
/// | `TIDEBELL_CONTAINER` | `container` | the container `CKContainer.default()` returns |
/// | `TIDEBELL_HOME` | – | folder of the device's state; `$HOME/.tidebell` when not set |
/// | `TIDEBELL_QUIET` | – | anything: not to print that operations wait for the network |
///
/// Variables win over a sign-in with `tidebell login`, which wins over the file
/// `device.json` in that folder.
package struct DeviceConfiguration: Sendable {
    /// The server's address.
    package var server: URL
    /// The API token every request carries.
    package var apiToken: String?
    /// The web token of the signed-in user; nil when nobody is signed in.
    package var webAuthToken: String?
    /// `development` or `production`.
    package var environment: String
    /// The identifier of the default container.
    package var defaultContainer: String?
    /// The ID by which the server distinguishes the device from the user's other ones.
    package var deviceID: String
    /// What environment variables set, which win over `tidebell login`; of the
    /// environment, also what `device.json` sets.
    package var given: Set<Given>

    /// A setting that signing in also knows.
    package enum Given: Sendable {
        case server, apiToken, webAuthToken, environment
    }

    /// Where the device keeps what outlives the process; nil keeps it in memory.
    package var stateFolder: URL?

    /// Where downloaded files are put; nil chooses a folder.
    package var downloads: URL?

    /// Creates a configuration.
    package init(
        server: URL,
        apiToken: String? = nil,
        webAuthToken: String? = nil,
        environment: String = "development",
        defaultContainer: String? = nil,
        deviceID: String,
        given: Set<Given> = [],
        stateFolder: URL? = nil,
        downloads: URL? = nil
    ) {
        self.server = server
        self.apiToken = apiToken
        self.webAuthToken = webAuthToken
        self.environment = environment
        self.defaultContainer = defaultContainer
        self.deviceID = deviceID
        self.given = given
        self.stateFolder = stateFolder
        self.downloads = downloads
    }
}
