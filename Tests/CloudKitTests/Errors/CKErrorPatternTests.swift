// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

/// The ways programs take a CloudKit error apart, all of which work on Apple's systems.
@Suite struct CKErrorPatternTests {
    private let stored = NSError(domain: CKErrorDomain, code: 26, userInfo: ["k": "v"])

    private func fail(with error: any Error) throws { throw error }

    @Test("ERR-1: catch let error as CKError catches a thrown CKError")
    func catchLet() {
        do {
            try fail(with: CKError(.zoneNotFound))
            Issue.record("nothing was thrown")
        } catch let error as CKError where error.code == .zoneNotFound {
            #expect(error.errorCode == 26)
        } catch {
            Issue.record("not caught as CKError: \(error)")
        }
    }

    @Test("ERR-1: catch CKError.zoneNotFound catches a thrown CKError")
    func catchCode() {
        var caught = false
        do { try fail(with: CKError(.zoneNotFound)) } catch CKError.zoneNotFound {
            caught = true
        } catch {}
        #expect(caught)
    }

    @Test("ERR-1: catch CKError.zoneNotFound catches a thrown NSError of the domain")
    func catchCodeOfStored() {
        var caught = false
        do { try fail(with: stored) } catch CKError.zoneNotFound { caught = true } catch {}
        #expect(caught)
    }

    @Test("ERR-1: catch let error as CKError catches a thrown NSError of the domain")
    func catchLetOfStored() {
        var code: CKError.Code?
        do { try fail(with: stored) } catch let error as CKError { code = error.code } catch {}
        #expect(code == .zoneNotFound)
    }

    @Test("ERR-1: an NSError of the domain casts to CKError and back")
    func castsBothWays() throws {
        let error = try #require(stored as? CKError)
        #expect(error.code == .zoneNotFound)
        #expect(error.userInfo["k"] as? String == "v")
        let back = error as NSError
        #expect(back.domain == CKErrorDomain)
        #expect(back.code == 26)
        #expect((back as? CKError)?.code == .zoneNotFound)
        let any: Any = stored
        #expect((any as? CKError)?.code == .zoneNotFound)
        #expect(any is CKError)
        let wrapped: any Error = stored
        #expect((wrapped as? CKError)?.code == .zoneNotFound)
    }

    @Test("ERR-1: an NSError of another domain is no CKError")
    func otherDomain() {
        let other: any Error = NSError(domain: "Other", code: 26)
        #expect(other as? CKError == nil)
        #expect(!(CKError.zoneNotFound ~= other))
    }

    @Test("ERR-1: a failure of a Result matches as CKError")
    func failureOfResult() {
        let result: Result<Int, any Error> = .failure(CKError(.serverRecordChanged))
        switch result {
        case .failure(let error as CKError): #expect(error.code == .serverRecordChanged)
        default: Issue.record("did not match")
        }
    }

    @Test("ERR-1: ~= compares a code with any error")
    func patternOperator() {
        let error: any Error = CKError(.partialFailure)
        #expect(CKError.partialFailure ~= error)
        #expect(!(CKError.networkFailure ~= error))
        #expect(CKError.Code.partialFailure ~= error)
    }

    @Test("ERR-1: a number this version does not know reads as internalError and keeps the number")
    func unknownCode() throws {
        let error = try #require(NSError(domain: CKErrorDomain, code: 4711) as? CKError)
        #expect(error.code == .internalError)
        #expect(error.errorCode == 4711)
    }

    @Test("ERR-1: errors hash and compare by number and details")
    func hashing() {
        let errors: Set<CKError> = [CKError(.zoneBusy), CKError(.zoneBusy), CKError(.zoneNotFound)]
        #expect(errors.count == 2)
        #expect(CKError(.zoneBusy) == CKError(.zoneBusy))
        #expect(CKError(.zoneBusy) != CKError(.zoneBusy, userInfo: ["a": 1]))
        #expect(CKError(.zoneBusy).hashValue == CKError(.zoneBusy).hashValue)
    }

    @Test("ERR-1: the error as NSError hashes and compares, and may stand in sets")
    func storedErrors() {
        let error = CKError(.zoneBusy) as NSError
        #expect(Set([error, CKError(.zoneBusy) as NSError]).count == 1)
        #expect(error.userInfo.isEmpty)
        #expect(
            "\(error)" == "<CKError 23 (zoneBusy): The zone is busy; wait before trying again.>")
    }

    @Test("ERR-1: the codes are 1 to 37 without gaps")
    func allCodes() {
        #expect((1...37).allSatisfy { CKError.Code(rawValue: $0)?.rawValue == $0 })
        #expect(CKError.Code(rawValue: 0) == nil)
        #expect(CKError.Code(rawValue: 38) == nil)
        #expect(CKError.participantAlreadyInvited.rawValue == 37)
        #expect(CKError.errorDomain == "CKErrorDomain")
    }

    @Test("ERR-1: the keys of the details have Apple's values")
    func keys() {
        #expect(CKErrorDomain == "CKErrorDomain")
        #expect(CKPartialErrorsByItemIDKey == "CKPartialErrors")
        #expect(CKRecordChangedErrorAncestorRecordKey == "AncestorRecord")
        #expect(CKRecordChangedErrorServerRecordKey == "ServerRecord")
        #expect(CKRecordChangedErrorClientRecordKey == "ClientRecord")
        #expect(CKErrorRetryAfterKey == "CKRetryAfter")
    }

    @Test(
        "ERR-1: an error without a reason has Apple's sentence, with its number", arguments: 1...37
    )
    func sentences(number: Int) throws {
        let error: any Error = CKError(try #require(CKError.Code(rawValue: number)))
        let sentence =
            "The operation couldn’t be completed. (CKErrorDomain error \(number).)"
        #expect(error.localizedDescription == sentence)
        #expect((error as? CKError)?.localizedDescription == sentence)
        #expect((error as NSError).localizedDescription == sentence)
    }

    @Test("ERR-1: the reason stands in Apple's sentence, what the code means in the log")
    func reasons() {
        let error = CKError(
            .zoneBusy, userInfo: [NSLocalizedFailureReasonErrorKey: "Too many writers."]
        )
        #expect(
            error.localizedDescription == "The operation couldn’t be completed. Too many writers."
        )
        #expect(
            "\(CKError(.zoneBusy) as NSError)"
                == "<CKError 23 (zoneBusy): The zone is busy; wait before trying again.>"
        )
    }
}

/// The details of an error as properties.
@Suite struct CKErrorDetailTests {
    @Test("ERR-2: the records of a conflict")
    func conflict() {
        let server = CKRecord(recordType: "T")
        let client = CKRecord(recordType: "T")
        let ancestor = CKRecord(recordType: "T")
        let error = CKError(
            .serverRecordChanged,
            userInfo: [
                CKRecordChangedErrorServerRecordKey: server,
                CKRecordChangedErrorClientRecordKey: client,
                CKRecordChangedErrorAncestorRecordKey: ancestor,
            ]
        )
        #expect(error.serverRecord === server)
        #expect(error.clientRecord === client)
        #expect(error.ancestorRecord === ancestor)
        #expect(CKError(.serverRecordChanged).serverRecord == nil)
    }

    @Test("ERR-2: the seconds to wait, whatever number they came as")
    func retryAfter() {
        #expect(CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 2.5]).retryAfterSeconds == 2.5)
        #expect(CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 3]).retryAfterSeconds == 3)
        let number = NSNumber(value: 4)
        #expect(CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: number]).retryAfterSeconds == 4)
        #expect(CKError(.zoneBusy).retryAfterSeconds == nil)
    }

    @Test("ERR-2, ERR-4: the errors of the items, by their IDs")
    func partial() throws {
        let id = CKRecord.ID(recordName: "a")
        let items: [AnyHashable: any Error] = [
            id: CKError(.unknownItem), "sub": CKError(.zoneBusy),
        ]
        let error = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: items])
        let read = try #require(error.partialErrorsByItemID)
        #expect(read.count == 2)
        #expect((read[CKRecord.ID(recordName: "a")] as? CKError)?.code == .unknownItem)
        #expect((read["sub"] as? CKError)?.code == .zoneBusy)
        let dictionary = error.userInfo[CKPartialErrorsByItemIDKey] as? NSDictionary
        #expect((dictionary?[id] as? CKError)?.code == .unknownItem)
        #expect(
            (error.userInfo[CKPartialErrorsByItemIDKey] as? [CKRecord.ID: any Error]) == nil
                || items.count == 2
        )
    }

    @Test("ERR-2: the items of a dictionary of NSErrors are CKErrors")
    func partialOfStored() throws {
        let id = CKRecord.ID(recordName: "a")
        let items: NSDictionary = [id: NSError(domain: CKErrorDomain, code: 11)]
        let error = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: items])
        let read = try #require(error.partialErrorsByItemID)
        #expect((read[id] as? CKError)?.code == .unknownItem)
    }
}
