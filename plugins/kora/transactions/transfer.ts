import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { type AccountInfo, readAccounts } from '../../shared/solana-accounts.ts'
import { associatedAddress, SYSTEM_PROGRAM, TOKEN_PROGRAMS } from '../../shared/solana-transaction.ts'
import { KoraError } from '../errors.ts'
import type { Sponsor } from '../sponsor.ts'

/** A transfer of tokens between two owners, in base units. */
export interface Transfer {
  readonly token: string
  readonly amount: bigint
  readonly source: string
  readonly destination: string
}

const DECIMALS_AT = 44

/**
 * Makes the transaction of a transfer, unsigned, with the relayer as the fee payer. The mint `1111…` means
 * lamports. The account of the destination must exist: its rent would be the relayer's.
 */
export async function composeTransfer(
  { rpc, address: feePayer }: Sponsor,
  wanted: Transfer,
): Promise<object> {
  if (wanted.source === feePayer)
    throw new KoraError('ValidationError', 'source: the fee payer transfers nothing of its own.')
  const instruction =
    wanted.token === SYSTEM_PROGRAM
      ? ofLamports(wanted)
      : await ofTokens(wanted, async (addresses) => (await readAccounts(addresses, rpc)).accounts)
  const { value } = await rpc<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
    'getLatestBlockhash',
    [{ commitment: 'confirmed' }],
  )
  const blockhash = value.blockhash as Blockhash
  const lastValidBlockHeight = BigInt(value.lastValidBlockHeight)
  const transaction = compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(address(feePayer), message),
      (message) => setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight }, message),
      (message) => appendTransactionMessageInstruction(instruction, message),
    ),
  )
  return {
    transaction: getBase64EncodedWireTransaction(transaction),
    message: Buffer.from(transaction.messageBytes).toString('base64'),
    blockhash,
    signer_pubkey: feePayer,
  }
}

function ofLamports({ source, destination, amount }: Transfer): Instruction {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2)
  data.writeBigUInt64LE(checked(amount), 4)
  return {
    programAddress: address(SYSTEM_PROGRAM),
    accounts: [
      { address: address(source), role: AccountRole.WRITABLE_SIGNER },
      { address: address(destination), role: AccountRole.WRITABLE },
    ],
    data: Uint8Array.from(data),
  }
}

async function ofTokens(
  { token, source, destination, amount }: Transfer,
  read: (addresses: readonly string[]) => Promise<readonly (AccountInfo | null)[]>,
): Promise<Instruction> {
  const [mint] = await read([token])
  if (!mint || !TOKEN_PROGRAMS.has(mint.owner))
    throw new KoraError('AccountNotFound', `token: ${token} is not the mint of a token.`)
  const [from, to] = await Promise.all([
    associatedAddress(source, token, mint.owner),
    associatedAddress(destination, token, mint.owner),
  ])
  const accounts = await read([from, to])
  const missing = [from, to].find((_, index) => !accounts[index])
  if (missing !== undefined)
    throw new KoraError('AccountNotFound', `The token account ${missing} does not exist; open it first.`)
  const data = Buffer.alloc(10)
  data.writeUInt8(12)
  data.writeBigUInt64LE(checked(amount), 1)
  data.writeUInt8(Buffer.from(mint.data[0], 'base64')[DECIMALS_AT] ?? 0, 9)
  return {
    programAddress: address(mint.owner),
    accounts: [
      { address: address(from), role: AccountRole.WRITABLE },
      { address: address(token), role: AccountRole.READONLY },
      { address: address(to), role: AccountRole.WRITABLE },
      { address: address(source), role: AccountRole.READONLY_SIGNER },
    ],
    data: Uint8Array.from(data),
  }
}

function checked(amount: bigint): bigint {
  if (amount < 2n ** 64n) return amount
  throw new KoraError('InvalidParams', 'amount: expected at most 2^64 - 1 base units.')
}
