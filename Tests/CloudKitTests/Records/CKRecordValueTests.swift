// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

/// Reading and writing fields as programs for Apple's systems do.
@Suite struct CKRecordValueTests {
    private let record = CKRecord(recordType: "Item")

    @Test("REC-4: literals are set through the plain subscript")
    func literals() {
        record["text"] = "x"
        record["whole"] = 5
        record["fraction"] = 2.5
        record["truth"] = true
        record["texts"] = ["a", "b"]
        record["gone"] = nil
        #expect(record["text"] as? String == "x")
        #expect(record["whole"] as? Int == 5)
        #expect(record["fraction"] as? Double == 2.5)
        #expect(record["truth"] as? Bool == true)
        #expect(record["texts"] as? [String] == ["a", "b"])
        #expect(record["gone"] == nil)
    }

    @Test("REC-4: a whole number answers to every numeric type")
    func numbers() {
        record["n"] = 5
        #expect(record["n"] as? Int == 5)
        #expect(record["n"] as? Int64 == 5)
        #expect(record["n"] as? UInt8 == 5)
        #expect(record["n"] as? Double == 5)
        #expect(record["n"] as? NSNumber == 5)
        record["n"] = Int8(-3)
        #expect(record["n"] as? Int == -3)
        record["n"] = UInt64(7)
        #expect(record["n"] as? Int == 7)
        record["n"] = Float(0.5)
        #expect(record["n"] as? Double == 0.5)
        #expect(record["n"] as? Int == nil)
        record["n"] = 2.0
        #expect(record["n"] as? Int == 2)
    }

    @Test("REC-4: there are no truth values, only the numbers 0 and 1")
    func truth() {
        record["b"] = true
        #expect(record["b"] as? Bool == true)
        #expect(record["b"] as? Int == 1)
        record["b"] = false
        #expect(record["b"] as? Bool == false)
        record["b"] = 2
        #expect(record["b"] as? Bool == nil)
    }

    @Test("REC-4: every type of value is read as it was set")
    func types() {
        let date = Date(timeIntervalSinceReferenceDate: 4_711.25)
        let data = Data([1, 2, 3])
        let location = CLLocation(latitude: 52.5, longitude: 13.4)
        let reference = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "other"),
            action: .deleteSelf
        )
        let asset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/a"))
        record["date"] = date
        record["data"] = data
        record["location"] = location
        record["reference"] = reference
        record["asset"] = asset
        #expect(record["date"] as? Date == date)
        #expect(record["date"] as? NSDate == date as NSDate)
        #expect(record["data"] as? Data == data)
        #expect(record["location"] as? CLLocation == location)
        #expect(record["reference"] as? CKRecord.Reference == reference)
        #expect(record["asset"] as? CKAsset === asset)
    }

    @Test("REC-4: lists of every type are read as they were set")
    func lists() {
        let dates = [Date(timeIntervalSinceReferenceDate: 1)]
        let references = [
            CKRecord.Reference(recordID: CKRecord.ID(recordName: "r"), action: .none)
        ]
        let locations = [CLLocation(latitude: 1, longitude: 2)]
        let assets = [CKAsset(fileURL: URL(fileURLWithPath: "/tmp/a"))]
        record["numbers"] = [1, 2, 3]
        record["fractions"] = [1.5, 2]
        record["truths"] = [true, false]
        record["dates"] = dates
        record["datas"] = [Data([1]), Data()]
        record["references"] = references
        record["locations"] = locations
        record["assets"] = assets
        record["empty"] = [String]()
        #expect(record["numbers"] as? [Int] == [1, 2, 3])
        #expect(record["numbers"] as? [Int64] == [1, 2, 3])
        #expect(record["numbers"] as? NSArray == [1, 2, 3])
        #expect(record["fractions"] as? [Double] == [1.5, 2])
        #expect(record["truths"] as? [Bool] == [true, false])
        #expect(record["dates"] as? [Date] == dates)
        #expect(record["datas"] as? [Data] == [Data([1]), Data()])
        #expect(record["references"] as? [CKRecord.Reference] == references)
        #expect(record["locations"] as? [CLLocation] == locations)
        #expect((record["assets"] as? [CKAsset])?.first === assets.first)
        #expect((record["empty"] as? [String])?.isEmpty == true)
    }

    @Test("REC-4: whole numbers beside fractions in one list are fractions")
    func mixedNumbers() {
        record["n"] = [NSNumber(value: 1), NSNumber(value: 2.5)] as NSArray
        #expect(record["n"] as? [Double] == [1, 2.5])
    }

    @Test("REC-4: the generic subscript reads and writes by the type of the variable")
    func genericSubscript() {
        let name: String? = "n"
        record["name"] = name
        record["count"] = Int64(3)
        let readName: String? = record["name"]
        let readCount: Int? = record["count"]
        let wrong: Date? = record["name"]
        #expect(readName == "n")
        #expect(readCount == 3)
        #expect(wrong == nil)
        let missing: String? = nil
        record["name"] = missing
        #expect(record["name"] == nil)
    }

    @Test("REC-4: the older spellings with CKRecordValue and Foundation classes compile and work")
    func olderSpellings() {
        record["s"] = "abc" as any CKRecordValue
        record.setObject("q" as NSString, forKey: "q")
        record.setObject(5 as any CKRecordValue, forKey: "five")
        record["list"] = [1, 2] as any CKRecordValue
        record["date"] = NSDate(timeIntervalSinceReferenceDate: 1)
        let value: any CKRecordValue = "v" as NSString
        record["v"] = value
        let anything: Any = "w"
        record["w"] = anything as? any CKRecordValue
        #expect(record["s"] as? String == "abc")
        #expect(record["s"] as? NSString == "abc")
        #expect(record.object(forKey: "q") as? String == "q")
        #expect(record.value(forKey: "five") as? Int == 5)
        #expect(record["list"] as? [Int] == [1, 2])
        #expect(record["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1))
        #expect(record["v"] as? String == "v")
        #expect(record["w"] as? String == "w")
        record.setObject(nil, forKey: "five")
        #expect(record.object(forKey: "five") == nil)
    }

    @Test("REC-4: key-value coding reads and writes fields")
    func keyValueCoding() {
        record.setValue("x", forKey: "a")
        record.setValuesForKeys(["b": 2, "c": NSNull()])
        #expect(record.value(forKey: "a") as? String == "x")
        #expect(record.value(forKey: "b") as? Int == 2)
        #expect(record.value(forKey: "c") == nil)
        #expect(record.value(forKey: "recordID") as? CKRecord.ID == record.recordID)
        let values = record.dictionaryWithValues(forKeys: ["a", "zzz"])
        #expect(values["a"] as? String == "x")
        #expect(values["zzz"] is NSNull)
    }

    @Test("REC-4: a switch over a value finds its type")
    func switching() {
        record["s"] = "text"
        switch record["s"] {
        case let text as String: #expect(text == "text")
        default: Issue.record("no text")
        }
        #expect((record["s"] ?? "default") as? String == "text")
        #expect((record["none"] ?? "default") as? String == "default")
    }

    @Test("REC-4: changing a mutable string later does not change the record")
    func copiesMutableValues() {
        let text = NSMutableString(string: "a")
        record["s"] = text as NSString
        text.append("b")
        #expect(record["s"] as? String == "a")
    }

    @Test("REC-8: a walk over the record meets names and values")
    func iteration() {
        record["b"] = 2
        record["a"] = "x"
        var seen: [String] = []
        for (key, value) in record { seen.append("\(key)=\(value)") }
        #expect(seen == ["a=x", "b=2"])
        #expect(record.map(\.0) == ["a", "b"])
    }

    @Test("REC-4: encrypted fields read and write like plain ones, beside them")
    func encryptedValues() {
        record["open"] = "o"
        record.encryptedValues["secret"] = "s"
        record.encryptedValues["count"] = 7
        let secret: String? = record.encryptedValues["secret"]
        #expect(secret == "s")
        #expect(record.encryptedValues["count"] as? Int == 7)
        #expect(record["secret"] == nil)
        #expect(record.allKeys() == ["open"])
        #expect(record.encryptedValues.allKeys() == ["count", "secret"])
        #expect(record.encryptedValues.changedKeys() == ["count", "secret"])
        record.encryptedValues["secret"] = nil
        #expect(record.encryptedValues.allKeys() == ["count"])
    }
}
