import { type Address, address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit'
import { TOKEN_PROGRAM } from './runtime/programs.ts'
import type { TestSolana } from './start-solana.ts'

/** The program that opens the one token account of an owner for a mint at an address that everyone can work out. */
export const ASSOCIATED_TOKEN_PROGRAM = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** A kind of token. */
export interface Mint {
  readonly decimals: number
  /** The account that may create more tokens; no one if absent. */
  readonly authority?: Address
  /** The token program; that of SPL Token if absent. */
  readonly program?: Address
}

/** Tokens of one owner. */
export interface Holding {
  readonly mint: Address
  readonly owner: Address
  /** In the smallest unit. */
  readonly amount: bigint
  /** The token program; that of SPL Token if absent. */
  readonly program?: Address
}

/** Layout of `Mint` and `Account` of spl-token: where what is not zero stands. */
const MINT = { length: 82, authority: 0, decimals: 44, isInitialized: 45 }
const ACCOUNT = { length: 165, owner: 32, amount: 64, state: 108 }
const INITIALIZED = 1

/** Puts a mint at an address, as if it had always been there. */
export function plantMint(solana: TestSolana, at: Address, { decimals, authority, program }: Mint): void {
  const data = Buffer.alloc(MINT.length)
  if (authority !== undefined) {
    data.writeUInt32LE(1, MINT.authority)
    data.set(getAddressEncoder().encode(authority), MINT.authority + 4)
  }
  data.writeUInt8(decimals, MINT.decimals)
  data.writeUInt8(INITIALIZED, MINT.isInitialized)
  plant(solana, at, { data, program })
}

/** Puts a token account at an address, as if it had always been there. The supply of its mint stays as it was. */
export function plantTokens(
  solana: TestSolana,
  at: Address,
  { mint, owner, amount, program }: Holding,
): void {
  const data = Buffer.alloc(ACCOUNT.length)
  data.set(getAddressEncoder().encode(mint), 0)
  data.set(getAddressEncoder().encode(owner), ACCOUNT.owner)
  data.writeBigUInt64LE(amount, ACCOUNT.amount)
  data.writeUInt8(INITIALIZED, ACCOUNT.state)
  plant(solana, at, { data, program })
}

function plant(
  solana: TestSolana,
  at: Address,
  { data, program = TOKEN_PROGRAM }: { data: Buffer; program: Address | undefined },
): void {
  const lamports = solana.rentExemption(data.length)
  solana.plant(at, { lamports, data: Uint8Array.from(data), owner: program, executable: false })
}

/** Returns the conventional address of an owner's tokens of a mint (spl-associated-token-account `get_associated_token_address`). */
export async function associatedAddress(
  owner: Address,
  mint: Address,
  program: Address = TOKEN_PROGRAM,
): Promise<Address> {
  const encoder = getAddressEncoder()
  const seeds = [owner, program, mint].map((each) => encoder.encode(each))
  const [found] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds })
  return found
}
