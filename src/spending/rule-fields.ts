import { hasWrongChecksum } from '../lib/evm-address.ts'
import type { FieldType } from '../lib/fields.ts'

/**
 * A rule with a mistyped address would permit what it should forbid, or the other way round. Its network is
 * not known here.
 */
function isMistyped(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text) && hasWrongChecksum(text)
}

const CHECKSUM = ' (on EVM in one letter case, or with the right checksum of EIP-55)'

/** An address or the name of an asset. EVM addresses get lower-case letters, because rules compare them. */
export const name: FieldType<string> = {
  expected: `an address${CHECKSUM}, or the name of an asset`,
  read: (value) => {
    if (typeof value !== 'string' || !/^[!-~]{1,100}$/.test(value) || isMistyped(value)) return undefined
    return /^0x[0-9a-fA-F]+$/.test(value) ? value.toLowerCase() : value
  },
  blank: '',
}

/**
 * The forms of assets. A limit for an asset that does not exist would limit nothing, so its name must have
 * one of them.
 */
const ASSET =
  /^(native|0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}|[A-Za-z0-9]{1,12}:G[A-Z2-7]{55}|C[A-Z2-7]{55})$/

export const asset: FieldType<string> = {
  expected: `"native", the address of a token, mint or contract${CHECKSUM}, or CODE:ISSUER`,
  read: (value) => {
    if (typeof value !== 'string' || !ASSET.test(value) || isMistyped(value)) return undefined
    return value.startsWith('0x') ? value.toLowerCase() : value
  },
  blank: 'native',
}

export const network: FieldType<string> = {
  expected: 'type and name of a network, joined by a colon, such as "evm:sepolia"',
  read: (value) =>
    typeof value === 'string' && /^(evm|stellar|solana):[!-~]{1,100}$/.test(value) ? value : undefined,
  blank: '',
}

export const selector: FieldType<string> = {
  expected: '0x and 8 hex digits',
  read: (value) =>
    typeof value === 'string' && /^0x[0-9a-fA-F]{8}$/.test(value) ? value.toLowerCase() : undefined,
  blank: '',
}
