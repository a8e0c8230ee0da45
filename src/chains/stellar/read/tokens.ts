import { Asset as AssetName } from '@stellar/stellar-sdk/base'
import {
  LedgerEntryData,
  LedgerKey,
  LedgerKeyTrustLine,
  Preconditions,
  ScVal,
  Transaction,
  TransactionExt,
  type TrustLineEntry,
} from '@stellar/stellar-sdk/xdr'
import type { Answer } from '../../answer.ts'
import { NATIVE } from '../../effects.ts'
import { askMost } from '../../rpc/agreement.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { encodeMemo, encodeOperation, encodeScValue } from '../encode.ts'
import { closeEnvelope } from '../model/envelope.ts'
import type { ScValue, StellarAsset } from '../model/operation.ts'
import { isAccountId, isContractAddress, toMuxedAccount, toPublicKey } from '../model/strkey.ts'
import { fieldsOf } from './replies.ts'

/** Every classic asset has seven decimals. */
export const CLASSIC_DECIMALS = 7

/** The largest amount of a classic asset. */
export const MAX_INT64 = 2n ** 63n - 1n

/** Returns what is wrong with the name of a token; undefined if nothing is. */
export function tokenProblem(token: string): string | undefined {
  const [code = '', issuer = ''] = token.split(':')
  const isKnown =
    token === NATIVE ||
    isContractAddress(token) ||
    (/^[A-Za-z0-9]{1,12}:[^:]+$/.test(token) && code !== '' && isAccountId(issuer))
  return isKnown ? undefined : '"native", CODE:ISSUER or the address of a contract is expected'
}

/** Returns the asset that a name of a classic token stands for. */
export function assetOf(token: string): StellarAsset {
  if (token === NATIVE) return { type: 'native' }
  const [code = '', issuer = ''] = token.split(':')
  return { type: code.length > 4 ? 'credit12' : 'credit4', code, issuer }
}

/** The balance of an account in a classic asset, in base units. */
export interface Holding {
  /** The amount that it can pay. */
  readonly spendable: bigint
  /** The amount that it can receive. */
  readonly receivable: bigint
}

/**
 * Reads what accounts hold of an asset of an issuer, in their order; undefined for an account without a trust
 * line.
 */
export async function readHoldings(
  client: PooledClient,
  token: string,
  accounts: readonly string[],
): Promise<Answer<readonly (Holding | undefined)[]>> {
  const [code = '', issuer = ''] = token.split(':')
  const asset = new AssetName(code, issuer).toTrustLineXDRObject()
  const keys = accounts
    .filter((account) => account !== issuer)
    .map((account) => ({
      account,
      key: LedgerKey.trustline(new LedgerKeyTrustLine({ accountId: toPublicKey(account), asset })).toXdr(
        'base64',
      ),
    }))
  const told = await askMost<Lines>(client, {
    calls: [{ method: 'getLedgerEntries', params: { keys: [...new Set(keys.map(({ key }) => key))] } }],
    read: ([endpointReply]) => {
      const fields = fieldsOf(endpointReply?.reply)
      if (fields.kind !== 'ok') return fields
      const lines = readLines(fields.value.entries)
      return lines === undefined
        ? { kind: 'unknown', detail: 'the endpoint did not answer with ledger entries' }
        : { kind: 'ok', value: lines }
    },
    isSame: (one, other) => keys.every(({ key }) => one.get(key)?.balance === other.get(key)?.balance),
  })
  if (told.kind !== 'ok') return told
  const lines = told.value
  return {
    kind: 'ok',
    value: accounts.map((account) => {
      // The issuer pays and takes back any amount.
      if (account === issuer) return { spendable: MAX_INT64, receivable: MAX_INT64 }
      const key = keys.find((one) => one.account === account)?.key ?? ''
      const line = lines.get(key)
      return line && holdingOf(line)
    }),
  }
}

/** `AUTHORIZED_FLAG` of `TrustLineFlags`. */
const AUTHORIZED = 1

function holdingOf({ balance, limit, flags, ext }: TrustLineEntry): Holding {
  if ((flags & AUTHORIZED) === 0) return { spendable: 0n, receivable: 0n }
  const { buying, selling } = ext.type === 'v1' ? ext.v1.liabilities : { buying: 0n, selling: 0n }
  return { spendable: balance - selling, receivable: limit - balance - buying }
}

type Lines = ReadonlyMap<string, TrustLineEntry>

/** Returns undefined for an entry that cannot be read, so that it does not count as missing (I6). */
function readLines(entries: unknown): Lines | undefined {
  if (entries === undefined || entries === null) return new Map()
  if (!Array.isArray(entries)) return undefined
  const lines = new Map<string, TrustLineEntry>()
  for (const entry of entries as readonly unknown[]) {
    const { key, xdr } = (entry ?? {}) as { readonly key?: unknown; readonly xdr?: unknown }
    if (typeof key !== 'string' || typeof xdr !== 'string') return undefined
    try {
      const data = LedgerEntryData.fromXdr(xdr, 'base64')
      if (data.type !== 'trustline') return undefined
      lines.set(key, data.trustLine)
    } catch {
      return undefined // The SDK throws: not XDR, or not of this kind.
    }
  }
  return lines
}

/** A function of a contract to run without sending it. */
export interface ContractRead {
  readonly contract: string
  readonly name: string
  readonly args?: readonly ScValue[]
}

/** Any account can be the source of a simulation, whether it exists or not. */
const ANY_ACCOUNT = 'GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF'

/**
 * Runs a function of a contract, and returns the value that most nodes find. A call that fails is unknown: it
 * decides nothing here.
 */
export async function readContract(
  client: PooledClient,
  { contract, name, args = [] }: ContractRead,
): Promise<Answer<ScVal>> {
  const operation = {
    type: 'invoke_contract',
    contract_address: contract,
    function_name: name,
    args,
  } as const
  const tx = new Transaction({
    sourceAccount: toMuxedAccount(ANY_ACCOUNT),
    fee: 0,
    seqNum: 0n,
    cond: Preconditions.precondNone(),
    memo: encodeMemo(undefined),
    operations: [encodeOperation(operation)],
    ext: TransactionExt.v0(),
  })
  const call = { method: 'simulateTransaction', params: { transaction: closeEnvelope(tx) } }
  return askMost(client, {
    calls: [call],
    read: ([endpointReply]) => {
      const fields = fieldsOf(endpointReply?.reply)
      if (fields.kind !== 'ok') return fields
      const [result] = Array.isArray(fields.value.results) ? (fields.value.results as unknown[]) : []
      const { xdr } = (result ?? {}) as { readonly xdr?: unknown }
      const value = typeof xdr === 'string' ? decode(xdr) : undefined
      return value === undefined
        ? { kind: 'unknown', detail: `contract ${contract} did not answer to ${name}` }
        : { kind: 'ok', value }
    },
    isSame: (one, other) => one.toXdr('base64') === other.toXdr('base64'),
  })
}

function decode(xdr: string): ScVal | undefined {
  try {
    return ScVal.fromXdr(xdr, 'base64')
  } catch {
    return undefined // As above.
  }
}

/** Returns the integer of a value; undefined for a value of another type. */
export function integerIn(value: ScVal | undefined): bigint | undefined {
  if (value?.type === 'scvI128') return (value.i128.hi << 64n) + value.i128.lo
  if (value?.type === 'scvU64') return value.u64
  return value?.type === 'scvU32' ? BigInt(value.u32) : undefined
}

/** The amounts of contracts, for `balance` and `decimals` of SEP-41. */
export async function readTokenContract(client: PooledClient, read: ContractRead): Promise<Answer<bigint>> {
  const answer = await readContract(client, read)
  if (answer.kind !== 'ok') return answer
  const integer = integerIn(answer.value)
  return integer === undefined || integer < 0n
    ? { kind: 'unknown', detail: `contract ${read.contract} did not answer to ${read.name} with an amount` }
    : { kind: 'ok', value: integer }
}

/** An amount as an argument of a contract. */
export function i128(amount: bigint): ScVal {
  return encodeScValue({ i128: String(amount) })
}
