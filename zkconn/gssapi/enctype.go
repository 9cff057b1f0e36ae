package gssapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
)

// supportedTypes are the encryption types that a session key may have, the strongest first. Tokens
// of others are made after RFC 1964, which this package does not speak.
var supportedTypes = []int32{
	etypeID.AES256_CTS_HMAC_SHA384_192,
	etypeID.AES128_CTS_HMAC_SHA256_128,
	etypeID.AES256_CTS_HMAC_SHA1_96,
	etypeID.AES128_CTS_HMAC_SHA1_96,
}

var namesOfTypes = map[int32]string{
	etypeID.AES256_CTS_HMAC_SHA384_192: "aes256-cts-hmac-sha384-192",
	etypeID.AES128_CTS_HMAC_SHA256_128: "aes128-cts-hmac-sha256-128",
	etypeID.AES256_CTS_HMAC_SHA1_96:    "aes256-cts-hmac-sha1-96",
	etypeID.AES128_CTS_HMAC_SHA1_96:    "aes128-cts-hmac-sha1-96",
	etypeID.DES3_CBC_SHA1_KD:           "des3-cbc-sha1",
	etypeID.RC4_HMAC:                   "arcfour-hmac",
	etypeID.DES_CBC_CRC:                "des-cbc-crc",
	etypeID.DES_CBC_MD5:                "des-cbc-md5",
}

func supported(enctype int32) bool { return slices.Contains(supportedTypes, enctype) }

func typeName(enctype int32) string {
	if name, known := namesOfTypes[enctype]; known {
		return name
	}
	return "encryption type " + strconv.Itoa(int(enctype))
}

func typeNames(enctypes []int32) string {
	names := make([]string, len(enctypes))
	for i, enctype := range enctypes {
		names[i] = typeName(enctype)
	}
	return strings.Join(names, ", ")
}

// among gives those of our types that are also in the list, in our order.
func among(list []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(supportedTypes), func(enctype int32) bool {
		return !slices.Contains(list, enctype)
	})
}
