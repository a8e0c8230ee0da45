import { type Address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit'
import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../wire/addresses.ts'
import { type AccountState, readAccounts } from './accounts.ts'

/** The layout of a mint (`spl_token::state::Mint`): where its decimals are, and the least bytes. */
const DECIMALS_AT = 44
const MINT_BYTES = 82

/** The amount in a token account (`spl_token::state::Account`), in eight bytes. */
const AMOUNT_AT = 64

/** A kind of token. */
export interface Mint {
  readonly program: string
  readonly decimals: number
}

/** Reads a mint; refuses an account that is none. */
export async function readMint(client: PooledClient, mint: string): Promise<Answer<Mint>> {
  const answer = await readAccounts(client, [mint])
  if (answer.kind !== 'ok') return answer
  const [state] = answer.value.accounts
  const isMint =
    (state?.owner === TOKEN_PROGRAM || state?.owner === TOKEN_2022_PROGRAM) && state.data.length >= MINT_BYTES
  return isMint
    ? { kind: 'ok', value: { program: state.owner, decimals: state.data[DECIMALS_AT] ?? 0 } }
    : {
        kind: 'refused',
        refusal: { code: 'invalid_request', detail: `fee_token: ${mint} is not the mint of a token.` },
      }
}

/** Returns the conventional token account of an owner (`get_associated_token_address`). */
export async function associatedAccount(owner: string, mint: string, program: string): Promise<string> {
  const encoder = getAddressEncoder()
  const seeds = [owner, program, mint].map((each) => encoder.encode(each as Address))
  const programAddress = ASSOCIATED_TOKEN_PROGRAM as Address
  const [found] = await getProgramDerivedAddress({ programAddress, seeds })
  return found
}

/** Reads the amount in the conventional token account of an owner; 0 if it does not exist. */
export async function readTokenBalance(
  client: PooledClient,
  mint: string,
  owner: string,
): Promise<Answer<bigint>> {
  const found = await readMint(client, mint)
  if (found.kind !== 'ok') return found
  const answer = await readAccounts(client, [await associatedAccount(owner, mint, found.value.program)])
  return answer.kind === 'ok' ? { kind: 'ok', value: amountIn(answer.value.accounts[0]) } : answer
}

function amountIn(state: AccountState | undefined): bigint {
  const data = Buffer.from(state?.data ?? [])
  return data.length < AMOUNT_AT + 8 ? 0n : data.readBigUInt64LE(AMOUNT_AT)
}
