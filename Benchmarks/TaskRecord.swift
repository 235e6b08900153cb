// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation

// The record of the client's measurements: a task of a to-do app, ten fields of seven
// types, about 900 bytes as JSON.

/// The fields of a task as JSON.
func taskFields(_ number: Int) -> String {
    let fields = [
        #""title":{"value":"Call the plumber about task \#(number)","type":"STRING"}"#,
        #""notes":{"value":"\#(taskNotes)","type":"STRING"}"#,
        #""priority":{"value":\#(number % 5),"type":"INT64"}"#,
        #""isDone":{"value":\#(number % 2),"type":"INT64"}"#,
        #""estimate":{"value":\#(Double(number % 40) / 4 + 0.125),"type":"DOUBLE"}"#,
        #""due":{"value":\#(1_790_000_000_000 + number),"type":"TIMESTAMP"}"#,
        #""tags":{"value":["home","urgent","phone"],"type":"STRING_LIST"}"#,
        #""list":{"value":{"recordName":"list-\#(number % 20)","action":"NONE"},"type":"REFERENCE"}"#,
        #""place":{"value":{"latitude":52.5,"longitude":13.4},"type":"LOCATION"}"#,
        #""token":{"value":"c2l4dGVlbiBieXRlcyBvaw==","type":"BYTES"}"#,
    ]
    return "{\(fields.joined(separator: ","))}"
}

private let taskNotes = String(repeating: "Ask for a date and a price. ", count: 6)

/// A task as the app makes it.
func task(_ number: Int, in zoneID: CKRecordZone.ID) -> CKRecord {
    let record = CKRecord(
        recordType: "Task", recordID: CKRecord.ID(recordName: taskName(number), zoneID: zoneID))
    record["title"] = "Call the plumber about task \(number)"
    record["notes"] = taskNotes
    record["priority"] = number % 5
    record["isDone"] = number % 2
    record["estimate"] = Double(number % 40) / 4 + 0.125
    record["due"] = Date(timeIntervalSince1970: 1_790_000_000 + Double(number) / 1000)
    record["tags"] = ["home", "urgent", "phone"]
    record["list"] = CKRecord.Reference(
        recordID: CKRecord.ID(recordName: "list-\(number % 20)", zoneID: zoneID), action: .none)
    record["place"] = CLLocation(latitude: 52.5, longitude: 13.4)
    record["token"] = Data("sixteen bytes ok".utf8)
    return record
}

/// A name as long as the ones apps use.
private func taskName(_ number: Int) -> String {
    String(format: "7C3A9F52-64E1-4B0D-9C11-%012X", number)
}

/// The records of tasks as an answer carries them, separated by commas.
func taskAnswers(_ range: Range<Int>, zone: String) -> String {
    range.map { number in
        let stamp =
            #"{"timestamp":1790000000000,"userRecordName":"_0123456789abcdef0123456789abcdef","#
            + #""deviceID":"5D4C"}"#
        return #"{"recordName":"\#(taskName(number))","recordType":"Task","#
            + #""fields":\#(taskFields(number)),"pluginFields":{},"recordChangeTag":"k\#(number)","#
            + #""created":\#(stamp),"modified":\#(stamp),"deleted":false,"#
            + #""zoneID":{"zoneName":"\#(zone)","ownerRecordName":"_defaultOwner","#
            + #""zoneType":"REGULAR_CUSTOM_ZONE"}}"#
    }.joined(separator: ",")
}

/// A page of a zone's changes as the server answers it.
func zonePage(_ zone: String, records: Range<Int>, token: Int, moreComing: Bool) -> String {
    #"{"zones":[{"zoneID":{"zoneName":"\#(zone)","ownerRecordName":"_defaultOwner"},"#
        + #""syncToken":"token-\#(token)","moreComing":\#(moreComing),"#
        + #""records":[\#(taskAnswers(records, zone: zone))]}]}"#
}

/// A `records/modify` body that creates tasks.
func createTasks(_ range: Range<Int>, zone: String) -> String {
    let operations = range.map { number in
        #"{"operationType":"create","record":{"recordType":"Task","#
            + #""recordName":"\#(taskName(number))","fields":\#(taskFields(number))}}"#
    }
    return
        #"{"zoneID":{"zoneName":"\#(zone)"},"operations":[\#(operations.joined(separator: ","))]}"#
}
