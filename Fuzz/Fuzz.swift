// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What is fed: each takes bytes nobody vouches for. It must return; a trap, an endless loop
/// or a broken promise (`require`) is a finding.
enum FuzzTarget: String, CaseIterable {
    case push
    case events
    case archives
    case predicates
    case answers

    /// The target of this run, named by `FUZZ_TARGET`.
    static let chosen: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            fatalError("FUZZ_TARGET is one of \(allCases.map(\.rawValue)), not '\(name)'.")
        }
        return target
    }()

    /// Feeds it.
    func run(_ input: [UInt8]) {
        switch self {
        case .push: fuzzPush(input)
        case .events: fuzzEvents(input)
        case .archives: fuzzArchives(input)
        case .predicates: fuzzPredicates(input)
        case .answers: fuzzAnswers(input)
        }
    }
}

/// What libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.chosen.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// Ends the run unless a promise holds.
func require(_ holds: Bool, _ promise: @autoclosure () -> String) {
    guard holds else { fatalError("Broken: \(promise())") }
}
