import { type Address, address, getAddressEncoder } from '@solana/kit'
import type { AccountState } from '../../../simulators/solana/runtime/account.ts'
import {
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../simulators/solana/runtime/programs.ts'
import type { TestSolana } from '../../../simulators/solana/start-solana.ts'
import { associatedAddress, plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import { type Wallet, walletOf } from '../../../simulators/solana/wallet.ts'
import { MAIN, SOL, seedOf } from '../../../test/support/solana-scenario.ts'

/** Everything that the relayer owns, and the accounts of the attacker beside it. */
export interface Victim {
  readonly payer: Address
  readonly attacker: Wallet
  /** Accounts in which only the payer may move something. */
  readonly possessions: Readonly<Record<string, Address>>
  readonly mint: Address
  /** The token accounts: the payer's in `possessions.tokens`, the attacker's here. */
  readonly loot: Address
  /** A mint of Token-2022 whose permanent delegate is the attacker, the payer's tokens in `possessions.delegated`. */
  readonly delegatedMint: Address
  readonly delegatedLoot: Address
  /** A lookup table that contains the payer and the attacker. */
  readonly tableAddresses: readonly Address[]
}

export const STAKE_PROGRAM = address('Stake11111111111111111111111111111111111111')

/** Returns the wallet of a name, the same each time. */
export const walletNamed = (name: string): Wallet => walletOf(seedOf(name))

/** Plants all of it. */
export async function plantVictim(solana: TestSolana): Promise<Victim> {
  const payer = address(MAIN)
  const attacker = walletNamed('attacker')
  const [mint, delegatedMint, nonce, stake, table, delegated, delegatedLoot] = [
    'mint',
    'delegated mint',
    'nonce',
    'stake',
    'table',
    'delegated tokens',
    'delegated loot',
  ].map((name) => walletNamed(name).address) as [
    Address,
    Address,
    Address,
    Address,
    Address,
    Address,
    Address,
  ]
  const tokens = await associatedAddress(payer, mint)
  const loot = await associatedAddress(attacker.address, mint)
  const tableAddresses = [payer, attacker.address, tokens, nonce]
  solana.airdrop(attacker.address, 1_000n * SOL)
  plantMint(solana, mint, { decimals: 6 })
  plantTokens(solana, tokens, { mint, owner: payer, amount: 1_000_000n })
  plantTokens(solana, loot, { mint, owner: attacker.address, amount: 1_000n })
  plantDelegatedMint(solana, delegatedMint, attacker.address)
  const program = TOKEN_2022_PROGRAM
  plantTokens(solana, delegated, { mint: delegatedMint, owner: payer, amount: 1_000_000n, program })
  plantTokens(solana, delegatedLoot, { mint: delegatedMint, owner: attacker.address, amount: 0n, program })
  plantAccount(solana, nonce, { owner: SYSTEM_PROGRAM, data: nonceData(payer) })
  plantAccount(solana, stake, { owner: STAKE_PROGRAM, data: stakeData(payer) })
  plantAccount(solana, table, { owner: LOOKUP_TABLE_PROGRAM, data: tableData(payer, tableAddresses) })
  const possessions = { tokens, delegated, nonce, stake, table }
  return { payer, attacker, possessions, mint, loot, delegatedMint, delegatedLoot, tableAddresses }
}

type Planted = Pick<AccountState, 'owner' | 'data'>

function plantAccount(solana: TestSolana, at: Address, { owner, data }: Planted): void {
  const lamports = solana.rentExemption(data.length) + SOL
  solana.plant(at, { lamports, data, owner, executable: false })
}

const bytesOf = (of: Address) => Buffer.from(getAddressEncoder().encode(of))

/** `nonce::state::Versions`: current, initialized, authority, durable nonce, fee for a signature. */
function nonceData(authority: Address): Uint8Array {
  const data = Buffer.alloc(80)
  data.writeUInt32LE(1, 0)
  data.writeUInt32LE(1, 4)
  data.set(bytesOf(authority), 8)
  data.fill(7, 40, 72)
  data.writeBigUInt64LE(5_000n, 72)
  return Uint8Array.from(data)
}

/** `StakeStateV2::Initialized`: rent, staker, withdrawer, no lockup. */
function stakeData(authority: Address): Uint8Array {
  const data = Buffer.alloc(200)
  data.writeUInt32LE(1, 0)
  data.writeBigUInt64LE(2_282_880n, 4)
  data.set(bytesOf(authority), 12)
  data.set(bytesOf(authority), 44)
  return Uint8Array.from(data)
}

/** `AddressLookupTable`: active for ever, extended in the first slot, with an authority. */
function tableData(authority: Address, addresses: readonly Address[]): Uint8Array {
  const head = Buffer.alloc(56)
  head.writeUInt32LE(1, 0)
  head.writeBigUInt64LE(2n ** 64n - 1n, 4)
  head.writeUInt8(1, 21)
  head.set(bytesOf(authority), 22)
  return Uint8Array.from(Buffer.concat([head, ...addresses.map(bytesOf)]))
}

/** A mint of Token-2022 with the extension `PermanentDelegate` (type 12). */
function plantDelegatedMint(solana: TestSolana, at: Address, delegate: Address): void {
  const data = Buffer.alloc(166 + 4 + 32)
  data.writeUInt8(1, 45)
  data.writeUInt8(1, 165)
  data.writeUInt16LE(12, 166)
  data.writeUInt16LE(32, 168)
  data.set(bytesOf(delegate), 170)
  plantAccount(solana, at, { owner: TOKEN_2022_PROGRAM, data: Uint8Array.from(data) })
}

/** Token programs, either of which may get an instruction. */
export const TOKEN_PROGRAMS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM] as const
