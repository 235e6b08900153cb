// SPDX-License-Identifier: Apache-2.0
// Swift's Glibc does not have it.
#pragma once
#include <sys/epoll.h>
