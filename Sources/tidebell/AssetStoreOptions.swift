// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import TidebellCore
import TidebellServer

/// The options of `tidebell serve` about a bucket that has the files of records.
struct AssetStoreOptions: ParsableArguments {
    private static let variable = "TIDEBELL_ASSET_STORE"

    @Option(
        help: ArgumentHelp(
            """
            The bucket of an S3-compatible service that has the files of records instead of the data folder, and what \
            their keys begin with: s3://BUCKET/PREFIX (default: $\(variable)). It needs --store.
            """,
            discussion: """
                The credentials are found where the tools of AWS find them: AWS_ACCESS_KEY_ID, \
                AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or AWS_PROFILE in the file \
                AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials).
                """,
            valueName: "s3-url"))
    private var assetStore: String?

    @Option(
        help: ArgumentHelp(
            "The service's address (default: $AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, else AWS's own).",
            valueName: "url"))
    private var s3Endpoint: String?

    @Option(
        help: ArgumentHelp(
            "The service's region (default: $AWS_REGION, $AWS_DEFAULT_REGION, else us-east-1).",
            valueName: "name"))
    private var s3Region: String?

    @Option(
        help: """
            Where the bucket's name stands in addresses: path (https://HOST/BUCKET), virtual \
            (https://BUCKET.HOST), or auto, which is virtual for AWS's own service only.
            """)
    private var s3AddressingStyle = BucketPlace.AddressingStyle.auto

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The bucket; nil for none.
    func bucket() throws -> BucketPlace? {
        let named = environment[Self.variable].flatMap { $0 == "" ? nil : $0 }
        guard let text = assetStore ?? named else {
            guard s3Endpoint == nil, s3Region == nil, s3AddressingStyle == .auto else {
                throw OperatorError("The options that begin with --s3- need --asset-store.")
            }
            return nil
        }
        let service = try BucketPlace.Service(
            endpoint: s3Endpoint, region: s3Region, environment: environment)
        return try BucketPlace(text, at: service, style: s3AddressingStyle)
    }

    /// Where the files of records are; credentials that are not there fail.
    func place() throws -> AssetPlace {
        guard let bucket = try bucket() else { return .folder }
        return .bucket(bucket, try AWSCredentialsSource(environment: environment))
    }
}

extension BucketPlace.AddressingStyle: ExpressibleByArgument {}
