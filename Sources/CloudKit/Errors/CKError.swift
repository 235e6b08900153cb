// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An error from CloudKit.
///
/// Wraps an `NSError` of the domain ``CKErrorDomain``, as on Apple's systems:
/// `catch let error as CKError`, `error as? CKError` of an `NSError`,
/// `catch CKError.networkFailure`, `CKError.partialFailure ~= error` and
/// `(error as NSError).code` all work (ERR-1, ERR-2).
///
/// ```swift
/// do {
///     try await database.save(note)
/// } catch let error as CKError where error.code == .serverRecordChanged {
///     guard let theirs = error.serverRecord else { throw error }
///     theirs["text"] = merged(note, theirs)
///     try await database.save(theirs)
/// } catch let error as CKError {
///     guard let seconds = error.retryAfterSeconds else { throw error }
///     tryAgain(after: seconds)
/// }
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckerror-swift.struct>.
public struct CKError: _BridgedStoredNSError, Sendable {
    /// The wrapped error.
    public let _nsError: NSError

    /// Wraps an error of the domain ``CKErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(
            error.domain == CKErrorDomain,
            "CKError wraps errors of CKErrorDomain only, not of \(error.domain)."
        )
        _nsError = error
    }

    /// Creates an error with a code, and details under the `CKError…Key` constants.
    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        _nsError = CKStoredError(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The domain of every CloudKit error.
    public static var errorDomain: String { CKErrorDomain }

    /// The domain that casts from `NSError` are compared with.
    public static var _nsErrorDomain: String { CKErrorDomain }

    /// The code of the error; `internalError` for a number that this version does not know.
    public var code: CKError.Code {
        // NB: Foundation's default traps on numbers it does not know.
        CKError.Code(rawValue: _nsError.code) ?? .internalError
    }

    /// The number of the code, also when this version does not know it.
    public var errorCode: Int { _nsError.code }

    /// The details of the error.
    public var userInfo: [String: Any] { _nsError.userInfo }

    /// The details of the error, always with a localized description.
    ///
    /// NB: Foundation on Linux takes the text of `any Error` from here, and nowhere else.
    public var errorUserInfo: [String: Any] {
        let text = [NSLocalizedDescriptionKey: localizedDescription]
        return _nsError.userInfo.merging(text) { own, _ in own }
    }

    /// A message for people: the reason if one is known, else Apple's message, which contains the
    /// number of the code.
    public var localizedDescription: String { _nsError.ckDescription }
}

/// The error object inside a ``CKError``.
///
/// Differs from its superclass only in what Foundation on Linux has otherwise than Apple's: the text
/// of errors without a reason, the description, and the hash.
final class CKStoredError: NSError, @unchecked Sendable {
    // Sendable: adds no state to its superclass.
    override var localizedDescription: String { ckDescription }

    // In logs: `CKError` itself has no description of its own, as on Apple's systems.
    override var description: String {
        let known = CKError.Code(rawValue: code)
        let reason = userInfo[NSLocalizedDescriptionKey] as? String
        // What the code means says more here than the sentence with its number, which is there already.
        return "<CKError \(code) (\(known.map { "\($0)" } ?? "unknown")): "
            + "\(reason ?? (known ?? .internalError).sentence)>"
    }

    // NB: `NSError.hash` calls itself for ever on Linux.
    override var hash: Int { code.hashValue }

    // Archives name the superclass, which everyone can read.
    override var classForCoder: AnyClass { NSError.self }
}

extension NSError {
    /// The text of an error as Apple's Foundation makes it: what was given, else a sentence around the reason or the code.
    fileprivate var ckDescription: String {
        if let given = userInfo[NSLocalizedDescriptionKey] as? String { return given }
        let start = "The operation couldn’t be completed."
        if let reason = userInfo[NSLocalizedFailureReasonErrorKey] as? String {
            return "\(start) \(reason)"
        }
        return "\(start) (\(domain) error \(code).)"
    }
}

extension CKError: Hashable {
    /// Returns whether both have the same number and equal details.
    public static func == (lhs: CKError, rhs: CKError) -> Bool {
        lhs._nsError.isEqual(rhs._nsError)
    }

    /// Hashes the number of the code.
    public func hash(into hasher: inout Hasher) {
        // NB: `NSError.hash` calls itself for ever on Linux; keep away from it.
        hasher.combine(CKErrorDomain)
        hasher.combine(_nsError.code)
    }

    /// The hash of the number of the code.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

// Linux only: without this conformance every cast from NSError to CKError gives nil.
// The requirements are Foundation's own; the runtime calls them for `as?` and `catch`.
extension CKError: _ObjectiveCBridgeable {
    /// The class this error bridges to.
    public typealias _ObjectiveCType = NSError

    /// Returns the wrapped error.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Wraps `source`, which must be of the domain ``CKErrorDomain``.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) {
        result = CKError(_nsError: source)
    }

    /// Wraps `source` when it is of the domain ``CKErrorDomain``.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError,
        result: inout CKError?
    ) -> Bool {
        result = source.domain == CKErrorDomain ? CKError(_nsError: source) : nil
        return result != nil
    }

    /// Wraps `source`; without one, an internal error.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CKError {
        guard let source else { return CKError(.internalError) }
        return CKError(_nsError: source)
    }
}
