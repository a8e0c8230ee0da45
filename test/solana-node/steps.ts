import { type Address, address, getAddressEncoder } from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../support/solana/runtime/programs.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from '../support/solana/tokens.ts'
import type { Step } from './wallet.ts'

const RECENT_BLOCKHASHES = address('SysvarRecentB1ockHashes11111111111111111111')
const RENT = address('SysvarRent111111111111111111111111111111111')

/** Bytes of a nonce account. */
export const NONCE_ACCOUNT_LENGTH = 80

/** System program: moves lamports. */
export function transfer(from: Address, to: Address, lamports: bigint): Step {
  const accounts = [
    { address: from, signs: true, writes: true },
    { address: to, writes: true },
  ]
  return { program: SYSTEM_PROGRAM, accounts, data: Buffer.concat([u32(2), u64(lamports)]) }
}

/** System program: makes an account; `at` signs as well. */
export function createAccount(
  from: Address,
  at: Address,
  { lamports, space, owner }: { lamports: bigint; space: number; owner: Address },
): Step {
  const accounts = [
    { address: from, signs: true, writes: true },
    { address: at, signs: true, writes: true },
  ]
  const data = Buffer.concat([u32(0), u64(lamports), u64(BigInt(space)), key(owner)])
  return { program: SYSTEM_PROGRAM, accounts, data }
}

/** System program: makes a nonce account of an account. */
export function initializeNonce(nonce: Address, authority: Address): Step {
  const accounts = [{ address: nonce, writes: true }, { address: RECENT_BLOCKHASHES }, { address: RENT }]
  return { program: SYSTEM_PROGRAM, accounts, data: Buffer.concat([u32(6), key(authority)]) }
}

/** System program: uses a durable nonce up. */
export function advanceNonce(nonce: Address, authority: Address): Step {
  const accounts = [
    { address: nonce, writes: true },
    { address: RECENT_BLOCKHASHES },
    { address: authority, signs: true },
  ]
  return { program: SYSTEM_PROGRAM, accounts, data: u32(4) }
}

/** Compute budget program: most compute units. */
export function unitLimit(units: number): Step {
  return {
    program: COMPUTE_BUDGET_PROGRAM,
    accounts: [],
    data: Buffer.concat([Buffer.from([2]), u32(units)]),
  }
}

/** Compute budget program: millionths of a lamport for each unit. */
export function unitPrice(microLamports: bigint): Step {
  return {
    program: COMPUTE_BUDGET_PROGRAM,
    accounts: [],
    data: Buffer.concat([Buffer.from([3]), u64(microLamports)]),
  }
}

function key(of: Address): Buffer {
  return Buffer.from(getAddressEncoder().encode(of))
}

/** Little endian, as all numbers in instructions. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Little endian. */
export function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** SPL Token: moves tokens between two token accounts of one mint. */
export function transferTokens(from: Address, to: Address, owner: Address, amount: bigint): Step {
  const accounts = [
    { address: from, writes: true },
    { address: to, writes: true },
    { address: owner, signs: true },
  ]
  return { program: TOKEN_PROGRAM, accounts, data: Buffer.concat([Buffer.from([3]), u64(amount)]) }
}

/** Associated token account program: opens `at` for `owner`, at the cost of `payer`. */
export function openTokenAccount(payer: Address, at: Address, owner: Address, mint: Address): Step {
  const accounts = [
    { address: payer, signs: true, writes: true },
    { address: at, writes: true },
    { address: owner },
    { address: mint },
    { address: SYSTEM_PROGRAM },
    { address: TOKEN_PROGRAM },
  ]
  return { program: ASSOCIATED_TOKEN_PROGRAM, accounts, data: Buffer.from([0]) }
}

/** Address lookup table program: makes the table of `authority` and a recent slot; `bump` is that of its address. */
export function createTable(table: Address, authority: Address, slot: bigint, bump: number): Step {
  const data = Buffer.concat([u32(0), u64(slot), Buffer.from([bump])])
  return { program: LOOKUP_TABLE_PROGRAM, accounts: tableUses(table, authority), data }
}

/** Address lookup table program: adds addresses to a table. */
export function extendTable(table: Address, authority: Address, addresses: readonly Address[]): Step {
  const data = Buffer.concat([u32(2), u64(BigInt(addresses.length)), ...addresses.map(key)])
  return { program: LOOKUP_TABLE_PROGRAM, accounts: tableUses(table, authority), data }
}

function tableUses(table: Address, authority: Address): Step['accounts'] {
  return [
    { address: table, writes: true },
    { address: authority, signs: true },
    { address: authority, signs: true, writes: true },
    { address: SYSTEM_PROGRAM },
  ]
}
