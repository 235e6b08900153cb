// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

private let environment = ProcessInfo.processInfo.environment
private let cuts = environment["TIDEBELL_TEST_POWER_CUTS"].flatMap { Int($0) }

/// What a server owes its users when the power fails: `Scripts/test-power-cut`.
@Suite(.hangs, .serialized, .enabled(if: cuts != nil, "needs root: Scripts/test-power-cut"))
struct PowerCutTests {
    @Test("after power cuts under load every acknowledged write is there, and was notified once")
    func nothingIsLost() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        try await PowerCutDisk.with { disk in
            let program = try disk.program()
            let server = try await program.serve()
            let scene = try await KillScene(
                program: program, seed: seed, uploads: disk.folder, addsUsers: false
            )
            let last = try await scene.play(server, times: cuts ?? 1) { server in
                try await disk.cut(server)
                #expect(try await disk.check(program) == ["ok"])
                return try await program.serve()
            }
            try await scene.check()
            last.signal(SIGTERM)
            _ = await last.waitUntilExit()
        }
    }

    @Test("with flushing off a power cut loses acknowledged writes, so the test above can fail")
    func control() async throws {
        try await PowerCutDisk.with { disk in
            let program = try disk.program(flushes: false)
            let server = try await program.serve()
            let scene = try await KillScene(
                program: program, seed: 1, uploads: disk.folder, addsUsers: false
            )
            // What was there before the writes is not at stake.
            try await disk.sync()
            let next = try await scene.write(200) {
                try await disk.cut(server)
                return try await program.serve()
            }
            #expect(try await !scene.lost().isEmpty)
            next.signal(SIGKILL)
            _ = await next.waitUntilExit()
        }
    }

    /// What is not flushed where files of records are kept.
    enum Unflushed: String, CaseIterable {
        case none, files, folders
    }

    /// The folder is on a disk of its own: what the database flushes makes it no more durable.
    @Test(
        "with flushing of files of records, or of their folders, off alone, a power cut loses them",
        arguments: Unflushed.allCases)
    func assetControl(off: Unflushed) async throws {
        try await PowerCutDisk.with { disk in
            let data = disk.folder.appendingPathComponent("data")
            let normal = try disk.program(in: data)
            let first = try await normal.serve()
            let household = try await Household(program: normal, user: "anna")
            first.signal(SIGTERM)
            _ = await first.waitUntilExit()
            let assets = try disk.takeOver(data.appendingPathComponent("assets"))
            let variables = ["NO_FLUSH_IN": assets, "NO_FLUSH_KIND": off.rawValue]
            var program = try disk.program(in: data, notFlushing: off == .none ? nil : variables)
            program.port = normal.port
            let server = try await program.serve()
            try await disk.sync()
            let files = try FileWriter(household: household, folder: disk.folder)
            // The last file that is acknowledged: no later one is flushed with it.
            try await files.write(seed: 1, upTo: 3)
            #expect(files.acknowledged == 3)
            try await disk.cut(server)
            let next = try await normal.serve()
            #expect(try await files.lost().isEmpty == (off == .none))
            next.signal(SIGTERM)
            #expect(await next.waitUntilExit() == 0)
        }
    }
}

/// A file system on a loop device.
private final class PowerCutDisk: Sendable {
    let folder: URL
    private let mountPoint: URL
    private let image: URL

    private static let size = "400M"

    private init() async throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-power-\(UUID())")
        mountPoint = folder.appendingPathComponent("mount")
        image = folder.appendingPathComponent("disk")
        try FileManager.default.createDirectory(
            at: mountPoint, withIntermediateDirectories: true
        )
        try await shell("truncate -s \(Self.size) '\(image.path)' && mkfs.ext4 -q '\(image.path)'")
        try await mount()
    }

    /// Runs `body` with a new disk and takes it away.
    static func with(_ body: (PowerCutDisk) async throws -> Void) async throws {
        let disk = try await PowerCutDisk()
        do {
            try await body(disk)
        } catch {
            await disk.remove()
            throw error
        }
        await disk.remove()
    }

    private func remove() async {
        // A server that is left over keeps the mount busy; the test failed then anyway.
        _ = try? await shell("umount -l '\(mountPoint.path)'")
        try? FileManager.default.removeItem(at: folder)
    }

    private func mount() async throws {
        // Without what ext4 does for programs that do not flush, by renames and every few seconds.
        let options = "loop,noauto_da_alloc,commit=600"
        try await shell("mount -o \(options) '\(image.path)' '\(mountPoint.path)'")
    }

    /// A program whose data is on the disk, with or without flushing.
    func program(flushes: Bool = true) throws -> TidebellProgram {
        try program(in: mountPoint.appendingPathComponent("data"), notFlushing: flushes ? nil : [:])
    }

    /// A program with its data in a folder; without flushing what the variables name, nil for nothing.
    func program(
        in data: URL, notFlushing variables: [String: String]? = nil
    ) throws -> TidebellProgram {
        var program = try Built.tidebell()
        program.dataFolder = data
        guard let variables else { return program }
        let library = try #require(environment["TIDEBELL_TEST_NO_FLUSH"])
        let wrapper = folder.appendingPathComponent("without-flushing")
        let assignments = variables.map { "\($0.key)='\($0.value)' " }.joined()
        try """
        #!/bin/sh
        \(assignments)LD_PRELOAD='\(library)' exec '\(program.executable.path)' "$@"
        """.write(to: wrapper, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: wrapper.path
        )
        program.executable = wrapper
        return program
    }

    /// Moves a folder to the disk, leaves a link to it, and returns its path there.
    func takeOver(_ source: URL) throws -> String {
        let target = mountPoint.appendingPathComponent(source.lastPathComponent)
        try FileManager.default.copyItem(at: source, to: target)
        try FileManager.default.removeItem(at: source)
        try FileManager.default.createSymbolicLink(at: source, withDestinationURL: target)
        return target.resolvingSymlinksInPath().path
    }

    /// Ends the server and loses what it did not flush.
    func cut(_ server: ChildProcess) async throws {
        server.signal(SIGSTOP)
        // The device, without the pages that the file system has not written to it.
        try await shell("cp --sparse=always '\(image.path)' '\(image.path).next'")
        server.signal(SIGKILL)
        _ = await server.waitUntilExit()
        try await shell(
            "umount '\(mountPoint.path)' && mv '\(image.path).next' '\(image.path)'"
        )
        try await mount()
    }

    /// Has everything written to the device that programs wrote, whether they flushed it or not.
    func sync() async throws { try await shell("sync -f '\(mountPoint.path)'") }

    /// What SQLite reports of a copy of its file and log: the first to open those that a cut left
    /// is the server, which they are for.
    func check(_ program: TidebellProgram) async throws -> [String] {
        let file = program.dataFolder.appendingPathComponent("tidebell.sqlite").path
        let copy = folder.appendingPathComponent("copy").path
        return try await shell(
            """
            rm -rf '\(copy)' && mkdir '\(copy)' && cp '\(file)' '\(copy)/cut' \
            && { [ ! -e '\(file)-wal' ] || cp '\(file)-wal' '\(copy)/cut-wal'; } \
            && sqlite3 '\(copy)/cut' 'PRAGMA integrity_check'
            """
        )
    }

    @discardableResult
    private func shell(_ command: String) async throws -> [String] {
        let child = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"), ["-c", command], mergesErrors: true
        )
        var output: [String] = []
        for await line in child.lines { output.append(line) }
        let status = await child.waitUntilExit()
        guard status == 0 else {
            throw ProcessFailure(description: "\(command): \(output.joined(separator: " "))")
        }
        return output
    }
}
