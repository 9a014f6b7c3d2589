/*
 * The functions of libcrypto that are used, found on first use. For
 * core/auth/crypto*.c only: the one door to OpenSSL.
 */
#ifndef CORE_AUTH_CRYPTO_LIB_H
#define CORE_AUTH_CRYPTO_LIB_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "core/base/dl.h"
#include "core/base/err.h"

#define CRYPTO_FUNCTIONS(X)                 \
	X(EVP_CIPHER_CTX_new)               \
	X(EVP_CIPHER_CTX_free)              \
	X(EVP_CIPHER_CTX_ctrl)              \
	X(EVP_aes_256_gcm)                  \
	X(EVP_EncryptInit_ex)               \
	X(EVP_EncryptUpdate)                \
	X(EVP_EncryptFinal_ex)              \
	X(EVP_DecryptInit_ex)               \
	X(EVP_DecryptUpdate)                \
	X(EVP_DecryptFinal_ex)              \
	X(EVP_MD_CTX_new)                   \
	X(EVP_MD_CTX_free)                  \
	X(EVP_sha256)                       \
	X(EVP_sha384)                       \
	X(EVP_DigestSignInit)               \
	X(EVP_DigestSign)                   \
	X(EVP_PKEY_free)                    \
	X(EVP_PKEY_get_base_id)             \
	X(EVP_PKEY_get_bits)                \
	X(EVP_PKEY_get_group_name)          \
	X(EVP_PKEY_get_bn_param)            \
	X(EVP_PKEY_get_raw_public_key)      \
	X(EVP_PKEY_Q_keygen)                \
	X(EVP_PKEY_CTX_set_rsa_padding)     \
	X(EVP_PKEY_CTX_set_rsa_pss_saltlen) \
	X(PEM_read_bio_PrivateKey)          \
	X(PEM_write_bio_PKCS8PrivateKey)    \
	X(BIO_new_mem_buf)                  \
	X(BIO_new)                          \
	X(BIO_s_secmem)                     \
	X(BIO_ctrl)                         \
	X(BIO_free)                         \
	X(BN_num_bits)                      \
	X(BN_bn2binpad)                     \
	X(BN_free)                          \
	X(d2i_ECDSA_SIG)                    \
	X(ECDSA_SIG_get0)                   \
	X(ECDSA_SIG_free)                   \
	X(ERR_clear_error)

struct crypto_lib {
	CRYPTO_FUNCTIONS(DL_MEMBER)
};

/* NULL with ERR_UNKNOWN when it is not installed; static. */
const struct crypto_lib *crypto_lib(struct err *err) MUST_USE;

#endif
