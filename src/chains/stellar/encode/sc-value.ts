import { StrKey } from '@stellar/stellar-sdk/base'
import {
  ContractId,
  Int128Parts,
  Int256Parts,
  ScAddress,
  ScMapEntry,
  ScVal,
  Uint128Parts,
  Uint256Parts,
} from '@stellar/stellar-sdk/xdr'
import { type ScEntry, type ScValue, type ScValueFields, wideInteger } from '../model/sc-value.ts'
import { isContractAddress, toPublicKey } from '../model/strkey.ts'

/**
 * Encodes a checked argument as XDR.
 * @throws Error for an object that names no type
 */
export function encodeScValue(value: ScValue): ScVal {
  if (value === 'void') return ScVal.scvVoid()
  const encoded = encodeInteger(value) ?? encodeWide(value) ?? encodeOther(value)
  if (encoded === undefined) throw new Error('an argument without a type passed the check')
  return encoded
}

/** Encodes a `G…` or `C…` address as XDR. */
export function encodeScAddress(address: string): ScAddress {
  return isContractAddress(address)
    ? ScAddress.scAddressTypeContract(new ContractId(StrKey.decodeContract(address)))
    : ScAddress.scAddressTypeAccount(toPublicKey(address))
}

function encodeInteger({ bool, u32, i32, u64, i64, timepoint, duration }: ScValueFields): ScVal | undefined {
  if (bool !== undefined) return ScVal.scvBool(bool)
  if (u32 !== undefined) return ScVal.scvU32(u32)
  if (i32 !== undefined) return ScVal.scvI32(i32)
  if (u64 !== undefined) return ScVal.scvU64(u64)
  if (i64 !== undefined) return ScVal.scvI64(i64)
  if (timepoint !== undefined) return ScVal.scvTimepoint(timepoint)
  return duration === undefined ? undefined : ScVal.scvDuration(duration)
}

function encodeWide({ u128, i128, u256, i256 }: ScValueFields): ScVal | undefined {
  if (u128 !== undefined) return ScVal.scvU128(new Uint128Parts(halves(wideInteger(u128), BigInt.asUintN)))
  if (i128 !== undefined) return ScVal.scvI128(new Int128Parts(halves(wideInteger(i128), BigInt.asIntN)))
  if (u256 !== undefined) return ScVal.scvU256(new Uint256Parts(quarters(wideInteger(u256), BigInt.asUintN)))
  return i256 === undefined
    ? undefined
    : ScVal.scvI256(new Int256Parts(quarters(wideInteger(i256), BigInt.asIntN)))
}

/** Cuts the highest part of an integer, the only part with a sign. */
type Cut = typeof BigInt.asIntN

function halves(integer: bigint, cut: Cut) {
  return { hi: cut(64, integer >> 64n), lo: BigInt.asUintN(64, integer) }
}

function quarters(integer: bigint, cut: Cut) {
  return {
    hiHi: cut(64, integer >> 192n),
    hiLo: BigInt.asUintN(64, integer >> 128n),
    loHi: BigInt.asUintN(64, integer >> 64n),
    loLo: BigInt.asUintN(64, integer),
  }
}

function encodeOther({ bytes, string, symbol, address, vec, map }: ScValueFields): ScVal | undefined {
  if (bytes !== undefined) return ScVal.scvBytes(Buffer.from(bytes, 'hex'))
  if (string !== undefined) return ScVal.scvString(string)
  if (symbol !== undefined) return ScVal.scvSymbol(symbol)
  if (address !== undefined) return ScVal.scvAddress(encodeScAddress(address))
  if (vec !== undefined) return ScVal.scvVec(vec.map(encodeScValue))
  return map === undefined ? undefined : ScVal.scvMap(inKeyOrder(map).map(encodeEntry))
}

function encodeEntry({ key, val }: ScEntry): ScMapEntry {
  return new ScMapEntry({ key: encodeScValue(key), val: encodeScValue(val) })
}

/**
 * Smart contracts accept a map only in the order of its keys (CAP-46-01, "ScMap"). The service sorts maps whose keys are all of one simple
 * type; for other keys it keeps the caller's order.
 */
function inKeyOrder(map: readonly ScEntry[]): readonly ScEntry[] {
  const [first] = map
  const kind = first && kindOf(first.key)
  if (kind === undefined || !map.every(({ key }) => kindOf(key) === kind)) return map
  return map.toSorted((a, b) => compareKeys(sortKeyOf(a.key), sortKeyOf(b.key)))
}

/** The name of the type of a key that can be sorted. */
function kindOf(key: ScValue): string | undefined {
  return sortKeyOf(key) === undefined ? undefined : Object.keys(key)[0]
}

type SortKey = bigint | Buffer | undefined

/** Integers are in the order of their values, texts and bytes in that of their bytes, and accounts before contracts. */
function sortKeyOf(key: ScValue): SortKey {
  if (key === 'void') return undefined
  const { symbol, string, bytes, address } = key
  if (address !== undefined) return Buffer.from(encodeScAddress(address).toXdr())
  if (bytes !== undefined) return Buffer.from(bytes, 'hex')
  const text = symbol ?? string
  if (text !== undefined) return Buffer.from(text)
  const narrow = key.u32 ?? key.i32 ?? key.u64 ?? key.i64 ?? key.timepoint ?? key.duration
  if (narrow !== undefined) return BigInt(narrow)
  const wide = key.u128 ?? key.i128 ?? key.u256 ?? key.i256
  return wide === undefined ? undefined : wideInteger(wide)
}

function compareKeys(a: SortKey, b: SortKey): number {
  if (a instanceof Buffer && b instanceof Buffer) return Buffer.compare(a, b)
  return (a ?? 0n) < (b ?? 0n) ? -1 : 1
}
