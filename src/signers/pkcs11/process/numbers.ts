/** The numbers of PKCS#11 3.0 that signing needs. They stand here because the package is loaded only where a signer needs it. */

/** Attributes. */
export const CLASS = 0x0
export const LABEL = 0x3
export const ID = 0x102
export const EC_PARAMS = 0x180
export const EC_POINT = 0x181

/** Classes of objects. */
export const PUBLIC_KEY = 0x2
export const PRIVATE_KEY = 0x3

/** Mechanisms: ECDSA of a digest, and PureEdDSA of a message. */
export const ECDSA = 0x1041
export const EDDSA = 0x1057

/** The library may use the locks of the operating system, because calls run at the same time. */
export const OS_LOCKING_OK = 0x2

/** Sessions read, and take part in the protocol of PKCS#11 at all. */
export const SERIAL_SESSION = 0x4

/** The normal user of a token, who may use its private keys. */
export const USER = 1

/** Flags of a token. */
export const PIN_FINAL_TRY = 0x20000
export const PIN_LOCKED = 0x40000
