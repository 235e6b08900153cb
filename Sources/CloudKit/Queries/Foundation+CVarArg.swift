// SPDX-License-Identifier: Apache-2.0
public import Foundation

// On Apple's systems Foundation's own classes do all of this.
#if !canImport(ObjectiveC)
    // What `NSPredicate(format:)` takes on Apple's systems, where these classes and the
    // types that bridge to them are arguments of formats.
    //
    // NB: Foundation on Linux knows this of strings only, up to the compiler below;
    // then it learns it of its classes. In a C format each is its description.
    #if compiler(<6.4)
        extension NSObject: @retroactive CVarArg {
            /// The address of the object; C formats use it for strings only.
            public var _cVarArgEncoding: [Int] {
                [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())]
            }
        }

        extension NSObject: @retroactive _CVarArgObject {
            /// The description, for C formats; for a string, the string itself.
            public var _cVarArgObject: any CVarArg { (self as? NSString) ?? DescribedObject(self) }
        }
    #endif

    /// A Swift type that can be an argument of formats, by its description.
    public protocol _DescribedArgument: _CVarArgObject {}

    extension _DescribedArgument {
        /// The description, for C formats.
        public var _cVarArgObject: any CVarArg { DescribedObject(self) }

        /// Never used: a C format uses the description.
        public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
    }

    extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
    extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
    extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
    extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
    extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
    extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject, _DescribedArgument {}
#endif
