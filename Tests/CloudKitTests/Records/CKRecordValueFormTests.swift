// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

/// Every way programs write and read a field, of a record and of its encrypted part: that
/// it compiles without a cast, and gives back what was written.
@Suite("Forms of field values")
struct CKRecordValueFormTests {
    private let record = CKRecord(recordType: "Item")
    private let date = Date(timeIntervalSinceReferenceDate: 4_711.25)

    /// Names of fields as apps declare them.
    private enum Key: String {
        case title, count
    }

    @Test("REC-4: every width of number is written and read as itself")
    func widths() {
        record["a"] = Int(-1)
        record["b"] = Int8(-8)
        record["c"] = Int16(-16)
        record["d"] = Int32(-32)
        record["e"] = Int64(-64)
        record["f"] = UInt(1)
        record["g"] = UInt8(8)
        record["h"] = UInt16(16)
        record["i"] = UInt32(32)
        record["j"] = UInt64(64)
        record["k"] = Float(0.5)
        record["l"] = Double(0.25)
        record["m"] = true
        #expect(record["a"] as? Int == -1)
        #expect(record["b"] as? Int8 == -8)
        #expect(record["c"] as? Int16 == -16)
        #expect(record["d"] as? Int32 == -32)
        #expect(record["e"] as? Int64 == -64)
        #expect(record["f"] as? UInt == 1)
        #expect(record["g"] as? UInt8 == 8)
        #expect(record["h"] as? UInt16 == 16)
        #expect(record["i"] as? UInt32 == 32)
        #expect(record["j"] as? UInt64 == 64)
        #expect(record["k"] as? Float == 0.5)
        #expect(record["l"] as? Double == 0.25)
        #expect(record["m"] as? Bool == true)
    }

    @Test("REC-4: typed variables, optional or not, read a field of their type")
    func typedVariables() throws {
        record["text"] = "t"
        record["count"] = 3
        record["date"] = date
        record["data"] = Data([1])
        record["texts"] = ["a", "b"]
        let text: String? = record["text"]
        let count: Int64? = record["count"]
        let read: Date? = record["date"]
        let data: Data? = record["data"]
        let texts: [String]? = record["texts"]
        let number: NSNumber? = record["count"]
        let string: NSString? = record["text"]
        #expect(text == "t")
        #expect(count == 3)
        #expect(read == date)
        #expect(data == Data([1]))
        #expect(texts == ["a", "b"])
        #expect(number == 3)
        #expect(string == "t")
        // As apps write it that are sure of the type.
        let forced = record["text"] as! String
        let forcedList = record["texts"] as! [String]
        #expect(forced == "t")
        #expect(forcedList == ["a", "b"])
        #expect(try #require(record["date"] as Date?) == date)
    }

    @Test("REC-4: an optional is written as its value, and nil removes the field")
    func optionals() {
        var title: String? = "t"
        var when: Date? = date
        var list: [Int]? = [1]
        var data: Data? = Data([1])
        for _ in 0..<2 {
            record["title"] = title
            record["when"] = when
            record["list"] = list
            record["data"] = data as (any CKRecordValue)?
            record.setObject(title as (any CKRecordValue)?, forKey: "old")
            #expect(record["title"] as? String == title)
            #expect(record["when"] as? Date == when)
            #expect(record["list"] as? [Int] == list)
            #expect(record["data"] as? Data == data)
            #expect(record["old"] as? String == title)
            (title, when, list, data) = (nil, nil, nil, nil)
        }
        #expect(record.allKeys() == [])
        record["title"] = "t"
        record["title"] = nil as String?
        #expect(record["title"] == nil)
        record["title"] = title ?? "default"
        #expect(record["title"] as? String == "default")
    }

    @Test("REC-4: lists of every type, empty and optional ones, are written without a cast")
    func lists() {
        let location = CLLocation(latitude: 1, longitude: 2)
        let reference = CKRecord.Reference(record: record, action: .none)
        record["doubles"] = [Double]()
        record["floats"] = [Float(0.5)]
        record["bytes"] = [UInt8(1), 2]
        record["datas"] = [Data([1])]
        record["dates"] = [date]
        record["places"] = [location]
        record["references"] = [reference]
        record["numbers"] = [NSNumber(value: 1)]
        record["strings"] = ["a" as NSString]
        record["mapped"] = Set([1]).map { $0 * 2 }
        #expect((record["doubles"] as? [Double])?.count == 0)
        #expect(record["floats"] as? [Float] == [0.5])
        #expect(record["bytes"] as? [Int] == [1, 2])
        #expect(record["datas"] as? [Data] == [Data([1])])
        #expect(record["dates"] as? [Date] == [date])
        #expect(record["places"] as? [CLLocation] == [location])
        #expect(record["references"] as? [CKRecord.Reference] == [reference])
        #expect(record["numbers"] as? [Int] == [1])
        #expect(record["strings"] as? [String] == ["a"])
        #expect(record["mapped"] as? [Int] == [2])
        #expect((record["references"] as? [CKRecord.Reference])?.first?.recordID == record.recordID)
    }

    @Test("REC-4: values made elsewhere are written as what they are")
    func valuesFromElsewhere() {
        let values: [String: any CKRecordValue] = ["a": "x" as NSString, "b": 2 as NSNumber]
        for (key, value) in values { record[key] = value }
        let protocols: [String: any CKRecordValueProtocol] = ["c": "y", "d": 4, "e": date]
        for (key, value) in protocols { record[key] = value }
        let anything: [String: Any] = ["f": 5, "g": "z", "h": [1, 2], "i": date]
        for (key, value) in anything { record[key] = value as? any CKRecordValue }
        for (key, value) in anything { record.setValue(value, forKey: "set_" + key) }
        #expect(record["a"] as? String == "x")
        #expect(record["b"] as? Int == 2)
        #expect(record["c"] as? String == "y")
        #expect(record["d"] as? Int == 4)
        #expect(record["e"] as? Date == date)
        for prefix in ["", "set_"] {
            #expect(record[prefix + "f"] as? Int == 5)
            #expect(record[prefix + "g"] as? String == "z")
            #expect(record[prefix + "h"] as? [Int] == [1, 2])
            #expect(record[prefix + "i"] as? Date == date)
        }
    }

    @Test("REC-4: Swift values cast to Foundation's classes are written like themselves")
    func bridged() {
        let (text, number, list, data) = ("x", 5, [1, 2], Data([1]))
        record["text"] = text as NSString
        record["number"] = number as NSNumber
        record["list"] = list as NSArray
        record["data"] = data as NSData
        record["date"] = date as NSDate
        record["when"] = date as any CKRecordValue
        record["count"] = number as any CKRecordValue
        record.setObject(list as any CKRecordValue, forKey: "numbers")
        #expect(record["text"] as? String == "x")
        #expect(record["number"] as? Int == 5)
        #expect(record["list"] as? [Int] == [1, 2])
        #expect(record["data"] as? Data == Data([1]))
        #expect(record["date"] as? Date == date)
        #expect(record["when"] as? Date == date)
        #expect(record["count"] as? Int == 5)
        #expect(record["numbers"] as? [Int] == [1, 2])
    }

    @Test("REC-4: fields are counted up, chosen and compared in place")
    func expressions() {
        record[Key.count.rawValue] = (record[Key.count.rawValue] as? Int ?? 0) + 1
        record[Key.count.rawValue] = (record[Key.count.rawValue] ?? 0) + 1
        let isLong = record.allKeys().count > 1
        record[Key.title.rawValue] = isLong ? "long" : "short"
        #expect(record["count"] == 2)
        #expect(record["title"] == "short")
        if let title = record["title"] as? String, title == "long" { Issue.record("long") }
        guard let count: Int = record["count"] else {
            Issue.record("no count")
            return
        }
        #expect(count == 2)
    }

    @Test("REC-4, REC-11: encrypted fields take and give every form that plain ones do")
    func encrypted() {
        let values = record.encryptedValues
        let title: String? = "t"
        record.encryptedValues["literal"] = "s"
        record.encryptedValues["flag"] = true
        record.encryptedValues["fraction"] = 0.5
        record.encryptedValues["optional"] = title
        record.encryptedValues["list"] = ["a", "b"]
        values["date"] = date
        values["data"] = Data([1])
        values["place"] = CLLocation(latitude: 1, longitude: 2)
        values["old"] = "o" as any CKRecordValue
        values["class"] = NSNumber(value: 7)
        values.setObject("q" as NSString, forKey: "object")
        let literal: String? = record.encryptedValues["literal"]
        let count: Int? = values["class"]
        #expect(literal == "s")
        #expect(count == 7)
        #expect(record.encryptedValues["flag"] as? Bool == true)
        #expect(record.encryptedValues["fraction"] as? Double == 0.5)
        #expect(record.encryptedValues["optional"] as! String == "t")
        #expect(record.encryptedValues["list"] as? [String] == ["a", "b"])
        #expect(values["date"] as? Date == date)
        #expect(values["data"] as? Data == Data([1]))
        #expect((values["place"] as? CLLocation)?.coordinate.longitude == 2)
        #expect(values["old"] as? String == "o")
        #expect(values.object(forKey: "object") as? String == "q")
        record.encryptedValues["optional"] = nil as String?
        record.encryptedValues["literal"] = nil
        #expect(values["optional"] == nil)
        #expect(values.allKeys().contains("literal") == false)
        #expect(record.allKeys() == [])
    }
}
