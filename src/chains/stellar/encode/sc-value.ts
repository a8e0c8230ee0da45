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
 * Smart contracts accept a map only in the order of its keys (CAP-46-01, "ScMap"). The service sorts maps whose keys are symbols, like
 * those of structures; for other keys it keeps the caller's order.
 */
function inKeyOrder(map: readonly ScEntry[]): readonly ScEntry[] {
  if (!map.every(({ key }) => symbolOf(key) !== undefined)) return map
  return map.toSorted((a, b) => Buffer.compare(symbolOf(a.key) ?? EMPTY, symbolOf(b.key) ?? EMPTY))
}

const EMPTY = Buffer.alloc(0)

function symbolOf(key: ScValue): Buffer | undefined {
  return key === 'void' || key.symbol === undefined ? undefined : Buffer.from(key.symbol)
}
