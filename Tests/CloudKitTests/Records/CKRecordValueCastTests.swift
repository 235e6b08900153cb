// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

/// The casts to `CKRecordValue` and from it, as older apps write them.
@Suite("Casts of field values")
struct CKRecordValueCastTests {
    private let record = CKRecord(recordType: "Item")
    private let date = Date(timeIntervalSinceReferenceDate: 4_711.25)
    private let location = CLLocation(latitude: 52.5, longitude: 13.4)
    private let link = CKRecord.Reference(
        recordID: CKRecord.ID(recordName: "other"), action: .none)
    private let asset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/a"))

    @Test("REC-4: a value of every type is a CKRecordValue by `as`")
    func unconditionalCasts() {
        record["string"] = "abc" as any CKRecordValue
        record["int"] = 1 as any CKRecordValue
        record["double"] = 2.5 as any CKRecordValue
        record["bool"] = true as any CKRecordValue
        record["date"] = date as any CKRecordValue
        record["data"] = Data([1]) as any CKRecordValue
        record["place"] = location as any CKRecordValue
        record["link"] = link as any CKRecordValue
        record["asset"] = asset as any CKRecordValue
        record["strings"] = ["a", "b"] as any CKRecordValue
        record["links"] = [link] as any CKRecordValue
        record["assets"] = [asset] as any CKRecordValue
        record["none"] = nil as (any CKRecordValue)?
        #expect(record["string"] as? String == "abc")
        #expect(record["int"] as? Int == 1)
        #expect(record["double"] as? Double == 2.5)
        #expect(record["bool"] as? Bool == true)
        #expect(record["date"] as? Date == date)
        #expect(record["data"] as? Data == Data([1]))
        #expect(record["place"] as? CLLocation == location)
        #expect(record["link"] as? CKRecord.Reference == link)
        #expect(record["asset"] as? CKAsset === asset)
        #expect(record["strings"] as? [String] == ["a", "b"])
        #expect(record["links"] as? [CKRecord.Reference] == [link])
        #expect((record["assets"] as? [CKAsset])?.first === asset)
        #expect(record["none"] == nil)
    }

    @Test("REC-4: a value of every type in an Any is a CKRecordValue by `as?`")
    func conditionalCasts() {
        let values: [Any] = [
            "abc", 1, Int8(1), Int16(1), Int32(1), Int64(1), UInt(1), UInt8(1), UInt16(1),
            UInt32(1), UInt64(1), Float(0.5), 2.5, true, date, Data([1]), location, link, asset,
            ["a"], [1], [2.5], [true], [date], [Data()], [location], [link], [asset],
            NSString("abc"), NSMutableString("abc"), NSNumber(value: 1), NSNumber(value: true),
            date as NSDate, Data([1]) as NSData, NSMutableData(), NSArray(array: ["a"]),
            NSMutableArray(array: [1]),
        ]
        for (index, value) in values.enumerated() {
            let cast = value as? any CKRecordValue
            #expect(cast != nil, "\(type(of: value))")
            record["f\(index)"] = cast
        }
        #expect(record.allKeys().count == values.count)
    }

    @Test("REC-4: what no field can hold is no CKRecordValue")
    func otherTypes() throws {
        let url = try #require(URL(string: "https://example.com"))
        let missing: String? = nil
        let values: [Any] = [url, url as NSURL, UUID(), Decimal(1), ["a": 1], missing as Any]
        for value in values {
            #expect(value as? any CKRecordValue == nil, "\(type(of: value))")
        }
    }

    @Test("REC-4: Foundation's classes are read as Swift's types, and the other way round")
    func bridging() {
        record["string"] = NSString("abc")
        record["number"] = NSNumber(value: 3)
        record["date"] = date as NSDate
        record["data"] = NSData(data: Data([1]))
        record["list"] = NSArray(array: ["a", "b"])
        #expect(record["string"] as? String == "abc")
        #expect(record["number"] as? Int == 3)
        #expect(record["number"] as? Bool == nil)
        #expect(record["date"] as? Date == date)
        #expect(record["data"] as? Data == Data([1]))
        #expect(record["list"] as? [String] == ["a", "b"])
        #expect(record["string"] is NSString)
        #expect((record["list"] as? NSArray)?.count == 2)
        #expect((record["number"] as? NSNumber)?.doubleValue == 3)
    }
}
