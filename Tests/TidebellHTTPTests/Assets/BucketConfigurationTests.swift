// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore

@testable import TidebellServer

/// Where a bucket is, and with which credentials it is used.
@Suite("Buckets and credentials as an operator names them")
final class BucketConfigurationTests {
    private let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-credentials-\(UUID().uuidString)")

    deinit {
        // Not every test makes one.
        try? FileManager.default.removeItem(at: file)
    }

    private func place(
        _ text: String, endpoint: String? = nil, region: String? = nil,
        _ style: BucketPlace.AddressingStyle = .auto, _ environment: [String: String] = [:]
    ) throws -> BucketPlace {
        try BucketPlace(
            text,
            at: BucketPlace.Service(endpoint: endpoint, region: region, environment: environment),
            style: style)
    }

    @Test("A bucket's name stands in the path, or in the host at AWS and where that is asked for")
    func addresses() throws {
        let own = try place("s3://files/clouds/a/", endpoint: "https://s3.example:9000/")
        #expect(own.host == "s3.example:9000")
        #expect(own.path(of: own.key("kept")) == "/files/clouds/a/kept")
        #expect(own.path(of: nil) == "/files")
        #expect("\(own)" == "s3://files/clouds/a")
        let virtual = try place("s3://files", endpoint: "https://s3.example", .virtual)
        #expect(virtual.host == "files.s3.example")
        #expect(virtual.path(of: virtual.key("kept")) == "/kept")
        let aws = try place("s3://files/a", region: "eu-central-1")
        #expect(aws.host == "files.s3.eu-central-1.amazonaws.com")
        #expect(try place("s3://my.files/a").host == "s3.us-east-1.amazonaws.com")
        let named = try place(
            "s3://files", .auto,
            ["AWS_REGION": "eu-1", "AWS_ENDPOINT_URL": "http://127.0.0.1:9000"])
        #expect(named.service.url == "http://127.0.0.1:9000" && named.service.region == "eu-1")
    }

    @Test(
        "What is no bucket is refused",
        arguments: [
            "files", "https://files", "s3://", "s3://ab", "s3://files//a", "s3://files/../a",
            "s3://files/a b", "s3://files?x/a", "s3://u@files/a",
        ])
    func noBucket(text: String) {
        let error = #expect(throws: OperatorError.self) { try self.place(text) }
        #expect(error?.description.contains("s3://BUCKET/PREFIX") == true)
    }

    @Test(
        "What is no address of a service is refused",
        arguments: [
            "s3.example", "ftp://s3.example", "https://u:p@s3.example", "https://s3.example/a",
            "https://",
        ])
    func noEndpoint(text: String) {
        let error = #expect(throws: OperatorError.self) {
            try self.place("s3://files", endpoint: text)
        }
        #expect(error?.description.contains("https://HOST[:PORT]") == true)
    }

    @Test("Credentials are those of the environment, else of the profile in the shared file")
    func credentials() throws {
        let environment = [
            "AWS_ACCESS_KEY_ID": "one", "AWS_SECRET_ACCESS_KEY": "secret of one",
            "AWS_SESSION_TOKEN": "session",
        ]
        let own = try AWSCredentialsSource(environment: environment)
        #expect(
            own.current
                == AWSCredentials(keyID: "one", secret: "secret of one", sessionToken: "session"))
        #expect(!"\(own) \(own.current)".contains("secret of one"))
        #expect(!own.lookAgain(after: own.current))
        try Data(
            """
            [default]
            aws_access_key_id = two
            aws_secret_access_key=secret=of two
            # aws_session_token = none
            [nodes]
            aws_access_key_id = three
            aws_secret_access_key = secret of three
            """.utf8
        ).write(to: file)
        let shared = ["AWS_SHARED_CREDENTIALS_FILE": file.path]
        let standard = try AWSCredentialsSource(environment: shared)
        #expect(standard.current == AWSCredentials(keyID: "two", secret: "secret=of two"))
        let profile = shared.merging(["AWS_PROFILE": "nodes"]) { $1 }
        #expect(try AWSCredentialsSource(environment: profile).current.keyID == "three")
    }

    @Test("A credentials file that was written anew is read again")
    func renewed() throws {
        func write(_ keyID: String) throws {
            try Data("[default]\naws_access_key_id=\(keyID)\naws_secret_access_key=s".utf8)
                .write(to: file)
        }
        try write("one")
        let source = try AWSCredentialsSource(
            environment: ["AWS_SHARED_CREDENTIALS_FILE": file.path])
        let first = source.current
        #expect(!source.lookAgain(after: first))
        try write("two")
        #expect(source.lookAgain(after: first))
        #expect(source.current.keyID == "two")
        try FileManager.default.removeItem(at: file)
        // Who was refused with those of before finds that there are others.
        #expect(source.lookAgain(after: first))
        #expect(!source.lookAgain(after: source.current))
        #expect(source.current.keyID == "two")
    }

    @Test("Credentials that are missing are refused with what is")
    func noCredentials() throws {
        func refusal(_ environment: [String: String]) -> String {
            let error = #expect(throws: OperatorError.self) {
                try AWSCredentialsSource(environment: environment)
            }
            return error?.description ?? ""
        }
        #expect(refusal(["AWS_ACCESS_KEY_ID": "one"]).contains("Set both"))
        #expect(
            refusal(["HOME": file.path]).contains("\(file.path)/.aws/credentials cannot be read"))
        try Data("[default]\naws_access_key_id=one\n".utf8).write(to: file)
        let shared = ["AWS_SHARED_CREDENTIALS_FILE": file.path, "AWS_PROFILE": "nodes"]
        #expect(refusal(shared).contains("in the profile 'nodes'"))
    }

    @Test("A page of a listing is read, and what is none is not")
    func listing() throws {
        let page = try #require(
            BucketPage(
                """
                <?xml version="1.0"?><ListBucketResult xmlns="x"><Name>files</Name>\
                <IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;lt;b</NextContinuationToken>\
                <Contents><Key>a&lt;b</Key><LastModified>2026-11-27T21:15:59.123Z</LastModified></Contents>\
                <Contents><Key>c</Key><LastModified>soon</LastModified></Contents></ListBucketResult>
                """))
        let moment = Instant(rawValue: 1_795_814_159_000)
        #expect(
            page.objects == [
                .init(key: "a<b", modified: moment), .init(key: "c", modified: nil),
            ])
        #expect(page.next == "a&lt;b")
        #expect(BucketPage.headerMoment("Fri, 27 Nov 2026 21:15:59 GMT") == moment)
        #expect(BucketPage.headerMoment("27 Nov 2026") == nil)
        #expect(BucketPage("<html>sign in</html>") == nil)
    }
}
