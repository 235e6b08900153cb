// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// `/`: what this server is and whether it is well. It knows nobody, so it is the same page for all.
extension ShowWelcome: ServerEndpoint {
    /// Answers with the page; while the store cannot be written, with status 503.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        var trouble: WireError?
        do {
            try await cloud.readiness.check(cloud.store, in: cloud.time)
        } catch let error as WireError {
            trouble = error
        }
        var response = WebResponse.page(page(trouble: trouble), status: trouble == nil ? 200 : 503)
        if let seconds = trouble?.retryAfter {
            response.headers[.retryAfter] = String(Int(seconds.rounded(.up)))
        }
        for field in PageStyle.headers { response.headers[field.name] = field.value }
        return response
    }

    private static func page(trouble: WireError?) -> HTML {
        PageTexts.page(
            "Tidebell",
            """
            <h1>This is Tidebell</h1>
            <p>An open-source CloudKit: a server that stores the records of apps, syncs them between devices \
            and sends pushes when they change. It is used by apps; there is nothing to sign in to here.</p>
            \(status(trouble: trouble))
            <h2>For developers</h2>
            <ul>
            <li><a href="tidebell.js">tidebell.js</a>, the client for web pages: one module, \
            documented in its comments</li>
            <li><a href="reference">reference</a>: tokens, pushes, extensions and errors, in one page</li>
            <li><a href="openapi.json">openapi.json</a>, which describes the API: all paths, who may \
            call them, requests and answers</li>
            <li><a href="ready">ready</a>, <a href="health">health</a> and <a href="version">version</a>, \
            for programs that monitor this server</li>
            </ul>
            <p>The README of the server explains how to set up apps and users, and \
            <code>tidebell --help</code> lists the commands.</p>
            <footer>Version \(Version.text)</footer>
            """)
    }

    private static func status(trouble: WireError?) -> HTML {
        guard let trouble else {
            return "<p role=\"status\">It is healthy: it answers, and its store can be written.</p>"
        }
        return """
            <p class="alert" role="status">It cannot save anything at the moment: \
            \(trouble.reason). Try again soon.</p>
            """
    }
}
