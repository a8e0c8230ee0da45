import { address, createAddressWithSeed, getAddressEncoder } from '@solana/kit'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../shared/solana-transaction.ts'
import type { Sale } from '../exchange.ts'

const COIN_DECIMALS = 9

/** An account that an instruction is handed. */
export interface AccountUse {
  readonly pubkey: string
  readonly isSigner: boolean
  readonly isWritable: boolean
}

/** An instruction with its accounts by address. */
export interface SaleInstruction {
  /** What it is for, where a node says that it fails. */
  readonly role: Role
  readonly program: string
  readonly accounts: readonly AccountUse[]
  readonly data: Uint8Array
}

/** What the instructions of a sale are for, in their order. */
export type Role = 'open' | 'fund' | 'swap' | 'least' | 'unwrap' | 'close'

/** An account of tokens that exists within one transaction. */
export interface Temporary {
  readonly address: string
  /** Distinguishes it from all others of the relayer. */
  readonly seed: string
  /** The token program that it belongs to. */
  readonly program: string
}

/** Works out the address of such an account. No key belongs to it: only the relayer's signature makes it. */
export async function temporaryOf(relayer: string, seed: string, program: string): Promise<Temporary> {
  const found = await createAddressWithSeed({
    baseAddress: address(relayer),
    programAddress: address(program),
    seed,
  })
  return { address: String(found), seed, program }
}

/** What a sale is made of. */
export interface SaleParts {
  readonly relayer: string
  /** The account where the relayer keeps the token. */
  readonly source: string
  readonly mint: string
  readonly decimals: number
  /** Sold from, and paid into. */
  readonly sold: Temporary
  readonly bought: Temporary
  /** The lamports that an account of tokens must hold. */
  readonly rent: bigint
  readonly swap: Pick<SaleInstruction, 'program' | 'accounts' | 'data'>
}

/**
 * Makes the instructions of a sale. They succeed together or have no effect, so what the last ones demand
 * holds of the swap, whatever its program says of itself. Pure.
 *
 * - `open`, twice: accounts that did not exist before. Nothing is in them but this sale, and no delegate or
 *   other authority is left in them from an earlier time.
 * - `fund`: exactly the amount, so that a program that takes all it can reach takes no more than the sale.
 *   The account that it comes from is not handed to the program. The decimals of the configuration, with which
 *   the price was applied, must be those of the mint.
 * - `swap`: the router's.
 * - `least`: moves the least that must arrive from the new account of wrapped SOL to itself, which fails if
 *   less is in it. It changes nothing.
 * - `unwrap`: closes that account, which hands all its lamports to the relayer. It fails if the account is not
 *   the relayer's to close any more.
 * - `close`: closes the account that was sold from. It fails if that is not empty or not the relayer's to
 *   close, so no delegate, authority or token stays behind in it, and what was sold is all of the amount.
 */
export function saleInstructions(parts: SaleParts, { amount, least }: Sale): readonly SaleInstruction[] {
  const { relayer, source, mint, decimals, sold, bought, rent, swap } = parts
  return [
    createAccount(relayer, sold, rent),
    initialize(relayer, sold, mint),
    createAccount(relayer, bought, rent),
    initialize(relayer, bought, WRAPPED_SOL),
    {
      role: 'fund',
      ...transfer(relayer, { from: source, to: sold.address, mint, decimals, amount, program: sold.program }),
    },
    { role: 'swap', ...swap },
    {
      role: 'least',
      ...transfer(relayer, {
        from: bought.address,
        to: bought.address,
        mint: WRAPPED_SOL,
        decimals: COIN_DECIMALS,
        amount: least,
        program: TOKEN_PROGRAM,
      }),
    },
    { role: 'unwrap', ...closing(relayer, bought) },
    { role: 'close', ...closing(relayer, sold) },
  ]
}

/** Bytes of an account of tokens without extensions (spl-token `Account::LEN`). */
export const TOKEN_ACCOUNT_BYTES = 165

/** Numbers of instructions: of the system program in four bytes, of the token programs in one. */
const CREATE_ACCOUNT_WITH_SEED = 3
const INITIALIZE_ACCOUNT_3 = 18
const TRANSFER_CHECKED = 12
const CLOSE_ACCOUNT = 9

function createAccount(relayer: string, { address: at, seed, program }: Temporary, rent: bigint) {
  return {
    role: 'open' as const,
    program: SYSTEM_PROGRAM,
    accounts: [signer(relayer), written(at)],
    data: Buffer.concat([
      u32(CREATE_ACCOUNT_WITH_SEED),
      key(relayer),
      u64(BigInt(seed.length)),
      Buffer.from(seed, 'latin1'),
      u64(rent),
      u64(BigInt(TOKEN_ACCOUNT_BYTES)),
      key(program),
    ]),
  }
}

function initialize(relayer: string, { address: at, program }: Temporary, mint: string) {
  return {
    role: 'open' as const,
    program,
    accounts: [written(at), read(mint)],
    data: Buffer.concat([Buffer.from([INITIALIZE_ACCOUNT_3]), key(relayer)]),
  }
}

interface CheckedTransfer {
  readonly from: string
  readonly to: string
  readonly mint: string
  readonly decimals: number
  readonly amount: bigint
  readonly program: string
}

function transfer(relayer: string, { from, to, mint, decimals, amount, program }: CheckedTransfer) {
  return {
    program,
    accounts: [written(from), read(mint), written(to), signer(relayer)],
    data: Buffer.concat([Buffer.from([TRANSFER_CHECKED]), u64(amount), Buffer.from([decimals])]),
  }
}

function closing(relayer: string, { address: at, program }: Temporary) {
  return {
    program,
    accounts: [written(at), written(relayer), signer(relayer)],
    data: Buffer.from([CLOSE_ACCOUNT]),
  }
}

function signer(pubkey: string): AccountUse {
  return { pubkey, isSigner: true, isWritable: true }
}

function written(pubkey: string): AccountUse {
  return { pubkey, isSigner: false, isWritable: true }
}

function read(pubkey: string): AccountUse {
  return { pubkey, isSigner: false, isWritable: false }
}

function key(of: string): Buffer {
  return Buffer.from(getAddressEncoder().encode(address(of)))
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
