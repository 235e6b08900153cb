// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation

// Archives of Apple's systems name the Objective-C classes. Foundation on Linux finds
// a class by such a name only when it was registered, before it reads: so we register it when
// the program starts, in the list of functions the loader calls before `main`.
#if os(Linux)
    @section(".init_array")
    @used
    private let registerAppleClassNames: @convention(c) () -> Void = {
        let unarchiver = NSKeyedUnarchiver.self
        unarchiver.setClass(CKRecord.self, forClassName: "CKRecord")
        unarchiver.setClass(CKRecordID.self, forClassName: "CKRecordID")
        unarchiver.setClass(CKRecordZoneID.self, forClassName: "CKRecordZoneID")
        unarchiver.setClass(CKRecordReference.self, forClassName: "CKReference")
        unarchiver.setClass(CKServerChangeToken.self, forClassName: "CKServerChangeToken")
        unarchiver.setClass(CKQueryCursor.self, forClassName: "CKQueryCursor")
        unarchiver.setClass(AppleRecordValueStore.self, forClassName: "CKRecordValueStore")
        unarchiver.setClass(AppleRecordValueStore.self, forClassName: "CKEncryptedRecordValueStore")
        unarchiver.setClass(CLLocation.self, forClassName: "CLLocation")
        unarchiver.setClass(AppleAsset.self, forClassName: "CKAsset")
    }
#endif
