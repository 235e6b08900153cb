// SPDX-License-Identifier: Apache-2.0
// Loaded before the C library into a server that is to lose its writes at a power cut: the control of
// Scripts/test-power-cut, which has to see that they are lost.

int fsync(int descriptor) {
    (void)descriptor;
    return 0;
}

int fdatasync(int descriptor) {
    (void)descriptor;
    return 0;
}

void sync(void) {}

int syncfs(int descriptor) {
    (void)descriptor;
    return 0;
}
