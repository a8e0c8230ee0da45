import { sign } from 'node:crypto'
import { type Address, address, getBase58Decoder } from '@solana/kit'
import { TOKEN_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { associatedAddress, plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import {
  createWallet,
  type Step,
  signContent,
  transferTokens,
  type Use,
  u64,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import type { Answer } from '../../support/service.ts'
import {
  MAIN,
  type SolanaScenario,
  type SolanaScenarioOptions,
  startSolanaScenario,
} from '../../support/solana-scenario.ts'

/** A kind of token with six decimals. */
export const USDC = createWallet().address

/** The price of SOL in it. */
const PRICE = '150'

/** Policies of a relayer whose users pay in tokens. */
export const POLICIES = {
  fee_payment_strategy: 'user',
  allowed_tokens: [
    {
      mint: USDC,
      symbol: 'USDC',
      max_allowed_fee: 1_000_000,
      price: { sources: [{ type: 'fixed', price: PRICE }] },
    },
  ],
}

/** The answer to a build. */
export interface SolanaBuild {
  readonly transaction: string
  readonly fee_in_spl: string
  readonly fee_in_lamports: string
  readonly fee_token: string
  readonly valid_until_blockheight: number
}

/** A relayer whose users pay in tokens, a user without SOL, and what both say. */
export interface SponsoredSolana extends SolanaScenario {
  readonly user: Wallet
  readonly friend: Wallet
  readonly userTokens: Address
  readonly relayerTokens: Address
  readonly friendTokens: Address
  tokensAt(account: Address): bigint
  /** A transfer of tokens to a friend, as the user's wallet makes it: the user is the fee payer, and nobody has signed. */
  gift(amount: bigint, more?: readonly Step[]): string
  quote(body: object): Promise<Answer<{ estimated_fee: string; conversion_rate: string }>>
  build(body: object): Promise<Answer<SolanaBuild>>
}

/** Starts both; the user has 10 USDC and no SOL. */
export async function startSponsoredSolana(options: SolanaScenarioOptions = {}): Promise<SponsoredSolana> {
  const scenario = await startSolanaScenario({ policies: POLICIES, ...options })
  const { solana, service } = scenario
  const user = createWallet()
  const friend = createWallet()
  plantMint(solana, USDC, { decimals: 6 })
  const [userTokens, relayerTokens, friendTokens] = await Promise.all(
    [user.address, address(MAIN), friend.address].map((owner) => associatedAddress(owner, USDC)),
  )
  if (!userTokens || !relayerTokens || !friendTokens) throw new Error('there are three owners')
  plantTokens(solana, userTokens, { mint: USDC, owner: user.address, amount: 10_000_000n })
  plantTokens(solana, relayerTokens, { mint: USDC, owner: address(MAIN), amount: 0n })
  plantTokens(solana, friendTokens, { mint: USDC, owner: friend.address, amount: 0n })
  return {
    ...scenario,
    user,
    friend,
    userTokens,
    relayerTokens,
    friendTokens,
    tokensAt: (account) => Buffer.from(solana.account(account)?.data ?? []).readBigUInt64LE(64),
    gift: (amount, more = []) => {
      const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
      const steps = [transferTokens(userTokens, friendTokens, user.address, amount), ...more]
      return signContent({ signers: [user], blockhash, steps }).base64
    },
    quote: (body) => service.api('POST', '/relayers/main/transactions/sponsored/quote', body),
    build: (body) => service.api('POST', '/relayers/main/transactions/sponsored/build', body),
  }
}

/** Signs a built transaction at the user's place, as a wallet does. */
export function signAs(base64: string, ...wallets: readonly Wallet[]): string {
  const bytes = Buffer.from(base64, 'base64')
  const count = bytes[0] ?? 0
  const message = bytes.subarray(1 + count * 64)
  const keyAt = (index: number) =>
    getBase58Decoder().decode(
      message.subarray(start(message) + index * 32, start(message) + (index + 1) * 32),
    )
  for (let index = 0; index < count; index += 1) {
    const wallet = wallets.find((one) => one.address === keyAt(index))
    if (wallet) bytes.set(sign(null, message, wallet.key), 1 + index * 64)
  }
  return bytes.toString('base64')
}

/** Behind the version, the header and the number of keys. */
function start(message: Buffer): number {
  return ((message[0] ?? 0) & 0x80) === 0 ? 4 : 5
}

/** SPL Token: an instruction of this kind. */
export function tokenStep(kind: number, accounts: readonly Use[], amount?: bigint): Step {
  const data = amount === undefined ? Buffer.from([kind]) : Buffer.concat([Buffer.from([kind]), u64(amount)])
  return { program: TOKEN_PROGRAM, accounts, data }
}
