/*
 * Private keys that are public: examples of RFCs, as PEM.
 */
#ifndef TESTS_UNIT_AUTH_KEYS_H
#define TESTS_UNIT_AUTH_KEYS_H

/* RFC 7638 section 3.1, whose private half is in RFC 7517 A.2 */
#define PEM_RSA_7638                                                         \
	"-----BEGIN PRIVATE KEY-----\n"                                      \
	"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDS/HtqCh5sZxBK\n" \
	"64+Isldmm032ed2tCZtcSmzZqIAVtaEzvwuFbHhxtt8AC1VPzrPC7VErto8UXG6E\n" \
	"NHUvq1Khz8EkQI95tYpFeMFkKIVXifeiSeOEyy2fri1n/Zb7kmwZjgdzmf3IFcCv\n" \
	"CX3eWq3v9E3nDoJ/SHhDJDm/7rlgaNBHT8UNbZC/OpjfrxBAyJwC1pKrOzwolmCd\n" \
	"hv1zt3TOB0BkfO7qoxC9EvmFqOufWf3UJs6lshIPTyo0vKt2S35sVNaEAji8xAWH\n" \
	"pZ5m7R8ziUV3Y1xHCvdc+Swg0dpD4b/EGeIipvDQuzWMXjj5ywUK6v6QSBTxrBqk\n" \
	"nMqeoMqDAgMBAAECggEAX4cTteJY/gn4FYPsXB8rdXix5vwsg1FLN5E3EaG6RJoV\n" \
	"H+HLLKD9M7dx5oo7GURknchnrRweUkC7hT5fJLM0WbFAKNLWY2vv7B6NqXSzUvxT\n" \
	"0/YSfqijwp3RTzlBaCxWp4doFk5N2o8Gy/nHNKroADIkJ46pRUohsXywbReAdYaM\n" \
	"wFs9tv8d/cPVY3i07a3t8MN6TNwm0dSawm9v47UiCl3Sk5ZiG7xojPLu4sbg1U2j\n" \
	"x4IBTNBznbJSzFHK66jT8bgkuqsk0GjskDJk19Z4qwjwbsnn4j2WBii3RL+Us2lG\n" \
	"VkY8fkFzme1z0HbIkfz0Y6mqnOYtqc0X4jfcKoAC8QKBgQDzeL7si8wZegxcKyS/\n" \
	"vdMqvzrfsWI7tnbvO/yiPqltZRDIs9AFDG09WfAPbRH7rR5MOYPa6Ocy3k+ioyub\n" \
	"xF+Y2FVYO2OMyYIyM6lJeJwUePtc65UhhDKpVaVYSHp03foZVliT3c3wFz29jjXH\n" \
	"LwH1HPM4ZVDNe80S+fs7SdVt+wKBgQDd185H1y5ir7RL6aQUvOAi2AwR8XMHareF\n" \
	"Z6Ey4bSgK6qdve+hsvK6aqNVlA7V0it3CBOcJ2ljMFw59bmvfvQAVeOJZ+380YSK\n" \
	"i+ieLOEqmj1VVLvxPMWDGQh2t5xF7Oxn7WRh3+zWoNvG2QMSB8AhMAb0tScAO6fi\n" \
	"8hxvrJ6XGQKBgBuLD15HOmGvcvKCVvfyC4+MbqabtJc4vx+1U5EvMY+UnV93KBNK\n" \
	"IpmMMSItnpkwLntFDmuXaYBRsgSeHPLUNlReNNl0boCg0z/GpGIRaObQAO+0HvzZ\n" \
	"rbmGXNwt5tyNuBthr0ebEg8VMgDds6vC35/RFJrOq2Nzm/GHoipE4gY9AoGBALPZ\n" \
	"QB/X4IAbKBUfDmnNkfxNoMNvNq09pBjgIbyJZRExNXn6wOoblFLzHwXDKZ/Janlu\n" \
	"r8852GOUkkBe6THQv2oCN5xvCG6dQVG9CVIq2kTalHy4XEG/3fRheA4e3u+Fm0bK\n" \
	"G0aJ7o02DdcQmj+kzutY71q1/i9fLcV8OPeEP3IJAoGAGyM/p6JrXySiz1toFgKb\n" \
	"WV+JdI3jQ4ypu9rbMWx3rQJBfmt0FoYzgUIZEVFEcOqwemRN81zoDAaa+Bk0KWNG\n" \
	"DjJHZDdDmFhW3AN7lI+puxk/mHZGJ11rxyR8O55XLSe3SPmRfKwZI6yU24ZxvQKF\n" \
	"YItdldUKGzO6Ia6zTKhAVRU=\n"                                         \
	"-----END PRIVATE KEY-----\n"

/* RFC 7515 A.3 */
#define PEM_EC_7515                                                          \
	"-----BEGIN PRIVATE KEY-----\n"                                      \
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff\n" \
	"H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp\n" \
	"7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt\n"         \
	"-----END PRIVATE KEY-----\n"

/* the same as SEC 1 */
#define PEM_EC_7515_OLD_FORM                                                 \
	"-----BEGIN EC PRIVATE KEY-----\n"                                   \
	"MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49\n" \
	"AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b\n" \
	"focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"                             \
	"-----END EC PRIVATE KEY-----\n"

/* RFC 8037 A.1 */
#define PEM_ED25519_8037                                                     \
	"-----BEGIN PRIVATE KEY-----\n"                                      \
	"MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n" \
	"-----END PRIVATE KEY-----\n"

/* made by openssl for these tests */
#define PEM_EC_P384                                                          \
	"-----BEGIN PRIVATE KEY-----\n"                                      \
	"MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCG1twCLaxskY8Bw6Pz\n" \
	"MkT7gvfE1L33wI6aJxmXnQ1SHnlMOcqAtxWVWIkM3QcNkyShZANiAASeHD+qld47\n" \
	"c7M12s7Ulz7hKIloLgfv0GCYcaVRsZ7DPd2SbNM4DULp5c+EJHswpt7C3UqXYYLV\n" \
	"0sJwEZ1++ngUjM7Wrn20dxmGRAxdPwlTHav3n8hCHmcsl3Vp3BoTJkM=\n"         \
	"-----END PRIVATE KEY-----\n"

/* RFC 7515 A.2 */
#define PEM_RSA_7515                                                         \
	"-----BEGIN PRIVATE KEY-----\n"                                      \
	"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO\n" \
	"jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL\n" \
	"aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn\n" \
	"juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5\n" \
	"ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf\n" \
	"toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg\n" \
	"VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW\n" \
	"PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G\n" \
	"O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj\n" \
	"kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6\n" \
	"XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB\n" \
	"4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K\n" \
	"pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr\n" \
	"0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE\n" \
	"lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6\n" \
	"kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP\n" \
	"rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw\n" \
	"kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp\n" \
	"5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2\n" \
	"9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/\n" \
	"evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG\n" \
	"yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj\n" \
	"OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2\n" \
	"tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3\n" \
	"ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56\n" \
	"03k2+ZQwVK0JKSHuLFkuQ3U=\n"                                         \
	"-----END PRIVATE KEY-----\n"

/* too short */
#define PEM_RSA_1024                                                         \
	"-----BEGIN PRIVATE KEY-----\n"                                      \
	"MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBALgf2FEZlQAqO/Va\n" \
	"1qVrkJGjdsi6Tcvbd04xnclzbZ/bGrXXVv/jSCuL0tJE4XH0pQfAKJeHVZMwQc13\n" \
	"X4tKHWcwWAX7qhZHH7tpqdd1zjHrUIMtyUNHHNh9ktNez4NllyTRBW6W4KhFX0B8\n" \
	"SF6U40AtU4N8X6ze4ZIuSpfxpps3AgMBAAECgYA7/Zw0aFpk0F3yxiMTiKV03kaw\n" \
	"hgsc9ae8oWvgnCxGnlPolX3yJ7J3Bbqt6eVuhKBUkyZmoKCgMWPvNwq5Tm+fhdcB\n" \
	"4ifCNSUpLaHaLUPjxh82NkrRD5f+QZxo21WS4MML/EtE7AckwJZDxts3RjzU5sYk\n" \
	"/Kw/prKe11K1zN9eqQJBAPVU47MooV35vD8E145tUsA+aYJRdcBdI1sLE6jyyyOT\n" \
	"Bhdq4nnIvtrKBJV1cqQ/r8em9Wqyopbiymqi+pN31OUCQQDAIZPBtM0N/G1cBtHa\n" \
	"VWjrziGEOlG8TYbQeE0u3ImRorZ9MDb6AD+MVOWdoahRH+x6HVmPRPK/YL9faJZb\n" \
	"/6nrAkEAo8FbD75iH9lPpvzzaRVd9AZ05NC8+X7x15aIM/CEWaWMnlrw+vtdMatA\n" \
	"7gZsVGhSS8EM9YBxeKe/Fvjcq0yEZQJBAKl79S+nIkv4JTBNA8mqFkgNKhvOplOJ\n" \
	"wCceOFfiS6ig9IIyigy3M1fDfFo1RJlro9uFEIAFvm18FtU/GYRGX8kCQDbna7M3\n" \
	"bGNIPZ/QJv1rotJZqTNbHa51uAOLlKS+r0u1tdMwKZsHIl8wQ6Q/4a7Ioit/JlS8\n" \
	"eba6oMxRHGXVZdQ=\n"                                                 \
	"-----END PRIVATE KEY-----\n"

/* a curve that is not used */
#define PEM_EC_K1                                                            \
	"-----BEGIN EC PRIVATE KEY-----\n"                                   \
	"MHQCAQEEIP4eGqeGAp33fYKwa2oBmJ6cUdMHLRNIlZRrJNo2Bk/7oAcGBSuBBAAK\n" \
	"oUQDQgAEpQioPDKWMG64KW+kNrN/pCNAa25owSHzMmik9jLIl5lD+5C5iKJOt8+b\n" \
	"DIlO+gsFj8jiX4/H+z2llEtBx1TV8A==\n"                                 \
	"-----END EC PRIVATE KEY-----\n"

/* a kind that is not used */
#define PEM_ED448                                                            \
	"-----BEGIN PRIVATE KEY-----\n"                                      \
	"MEcCAQAwBQYDK2VxBDsEOQRPqXkDVslh5rxLGZJZ7uT8eMNnPZx2Q4PEAJIVchxs\n" \
	"mfOpg6ZOa5kysoKZbSAS85M1bRT+dcuPRg==\n"                             \
	"-----END PRIVATE KEY-----\n"

/* PKCS #8 */
#define PEM_UNDER_PASSPHRASE                                                 \
	"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"                            \
	"MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhdoaU9ARdivgICCAAw\n" \
	"DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJOex+xnY9kTASYPXtMURQoEgZAz\n" \
	"ObWY37/5yxngJdVtf8At9Kmst9SDrG3FuuHdcf5pVnlG7bE5xqrdfaQ5GcFQn5kx\n" \
	"7YVVScIBnVivqsonzpzBhyIxaVjvaA8bm26w95KHxU8DkgHuD/pVx/ggaAXVDACr\n" \
	"6yqmwFHVqb/8a3z0G9sO/LHabj5QcvzFwGv00LbZJLagSAMpzBBS533WeIJ0GzM=\n" \
	"-----END ENCRYPTED PRIVATE KEY-----\n"

/* the older form */
#define PEM_UNDER_PASSPHRASE_OLD_FORM                                        \
	"-----BEGIN RSA PRIVATE KEY-----\n"                                  \
	"Proc-Type: 4,ENCRYPTED\n"                                           \
	"DEK-Info: AES-128-CBC,963E17684B4405925B2AD4F26AF7B1DB\n"           \
	"\n"                                                                 \
	"nQ8EtDd79bmuJYEG9b7PVJrfyVRqjZtmxNWbZBTPr9rEqad1VBJaovEhSuj95G0D\n" \
	"vsa3Vlx9Lq5e7VZbqz6dztXYm11mefDL4ovj56ug/moBgLXCgkmmmkptii2YHtrc\n" \
	"g1NbowtWJqE7f07NM/ttKgbYQaNFFwe2vJAGLfPupYLSR4f7CEaKezUCsRXxHmvT\n" \
	"ADtV5B7jF/raC1pUFprBsFht/CJpEvrObx7KMmaq/zO9Dj6DL6YPPu/XsIiwsM/T\n" \
	"SEq3pxVylYtBmG/hy7GwftacglweYyKbfQeva6CGdnfCstjV0VR7D1WUGChns4xy\n" \
	"mBYCOTNTv5gzcqR7tM+Gw89uctnSVeDbpetIdMEZ7lMI8NMqHKnw9UVga8DiAEdb\n" \
	"w59SjWcgGsldzfh/iascVSPyVQtf7r2PJWhVpiEMFZ/JkyRBFTA+GI8mXDV2VLsl\n" \
	"MlJHiWGPq2JORuZoniDPrV2R6YVBCu/hbUb4UHmHwZXEeAHjTzuj9YTBgulSzk8E\n" \
	"JjYHyyxtv3QzVE5u3rSK4E9rVkWSRYu39MEPlmr7k+2dxZsQu8NHWVs+/smJvdV2\n" \
	"5ZCtrfhz/Gy2xqWpPau78UU31SdLwqDPD1wrwQ8NfrTfuVbNl6XXBlRJc9ykWA0u\n" \
	"aPPtQFel+LVKP4kdsTheKTECpFSjsJesqti9x3ksrlILxRCmpr6F2kiK9LlDk42T\n" \
	"qVTnt8ur9AIPhwCcYkEcNtL47axIYWD6Tw7UdVZJawli3m3kWvpIijJXsQ0zlTiS\n" \
	"+aZuexvSd8FAExLUWzwqccNY5sbCg7xSiE5bj1uH/9qVPQuu/NPBJErjKCJZbXXA\n" \
	"-----END RSA PRIVATE KEY-----\n"

/* no private half */
#define PEM_PUBLIC                                                           \
	"-----BEGIN PUBLIC KEY-----\n"                                       \
	"MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEpQioPDKWMG64KW+kNrN/pCNAa25owSHz\n" \
	"Mmik9jLIl5lD+5C5iKJOt8+bDIlO+gsFj8jiX4/H+z2llEtBx1TV8A==\n"         \
	"-----END PUBLIC KEY-----\n"

#endif
