/*
 * A folder of tokens as the version wrote it that kept them by URL and issuer
 * only: its files, in Base64. It holds what a login to
 * https://shared.example/mcp left, by a client that was registered: the tokens
 * "access-of-alice" and "refresh-of-alice", until the year 2100.
 */
#ifndef TESTS_UNIT_OLD_STORE_H
#define TESTS_UNIT_OLD_STORE_H

#define OLD_STORE_URL "https://shared.example/mcp"

static const struct {
	const char *name, *base64;
} old_store[] = {
	{"9152500783d9c8b5da91128101b5ca621703966be51a14ead07f2f489b51c203."
	 "sealed",
	 "TUFUSU5TVEsBAwAA1UsDgAojcRlH6UHkBPMedUs6x6AaAAAAMgAAAGh0dHBzOi8v"
	 "c2hhcmVkLmV4YW1wbGUvbWNw0ERgPo3d624qqF9mVHdKfmoQatWYRz2S3evgVfv8"
	 "9A9Jyq8EmJZDzmAoyoN4jV6SCMo="},
	{"cf536e3822fbe0911a8e68b56ab67d91f4fbd45b3bdbdb6d96d4e986ab2d9a45."
	 "sealed",
	 "TUFUSU5TVEsBAwAA1UsDgAojcRmbLAhJkARZX7bdUwMaABUAYwEAAGh0dHBzOi8v"
	 "c2hhcmVkLmV4YW1wbGUvbWNwaHR0cHM6Ly9sb2dpbi5leGFtcGxl7iYT+cNfMq2g"
	 "bbdOR7D/jSI8G/2YpMl0JQ1I2j+1R0j7Jvgj8ku1XYBs4nHJMmmE0x3x26OVNUgH"
	 "4xZABIsctpANl3dTa3UTtoFXh/wfP1NXNZZB4WcgwFouAE4Zq6WKZHD/kIP03+nE"
	 "2ON0NfDmFtTe7RJWnGmFMHVbV9kdoJ0vTrj/2Z9py6SVvkIs+M4SJa7fq4cFZciH"
	 "1g9vy3FmZOOV9kkF/rGX7bd2NfD18TDz2W7jDNIAWzTpaax8MsHehvg4FvIIwCk3"
	 "6GXUix++m1Yn/ZxOVH2fn0nDoxZTfJCpy85F5EuYerXr2F3//jI7xENxWlYcvPOW"
	 "WOUKtTaPKl0YpxRIIRiuAs3dLXoS0kQvOQEXyEiQsFNvGvmkGTqkjBMw8KrRvXtp"
	 "AFm18xiqtzpGUGYAgCZc8vT3PI2pJt2HovTWqOjR1dN2i32/4jJCTl5VmrVIJeWx"
	 "Ttcnkyq2IlaHcA=="},
	{"key", "ellxSXhaUkdqa1N0M3hsREVQUUlranNBUnhKWkxjVGdoU0hMMnhHNUE1OAo="},
};

#endif
