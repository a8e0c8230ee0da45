import { createPrivateKey, randomBytes } from 'node:crypto'
import { type Address, address, getAddressDecoder, getBase58Decoder } from '@solana/kit'
import { onTestFinished } from 'vitest'
import { type SolanaOptions, startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { advanceNonce, type Step, signContent, type Wallet } from '../../../simulators/solana/wallet.ts'
import type { Answer } from '../../../src/chains/answer.ts'
import type { Prepared, SetupRequired } from '../../../src/chains/attempt.ts'
import type { SigningContext } from '../../../src/chains/chain.ts'
import type {
  SolanaDraft,
  SolanaInstruction,
  SolanaPolicies,
  SolanaRequest,
} from '../../../src/chains/solana/content.ts'
import { createSolanaChain } from '../../../src/chains/solana/solana-chain.ts'
import type { SolanaAccount, SolanaAttempt, SolanaChain } from '../../../src/chains/solana/types.ts'
import type { Clock } from '../../../src/lib/time.ts'
import { createLogger, type Logger } from '../../../src/log.ts'
import { createEd25519Signer } from '../../../src/signers/ed25519.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { MAIN, RECEIVER, SOL, seedOf } from '../../support/solana-scenario.ts'

/** The relayer under test. */
export const SELF = address(MAIN)
export const OTHER = address(RECEIVER)

/** The bytes before the 32 bytes of an ed25519 private key in PKCS#8 (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The relayer as someone who builds a transaction for it sees it: the address is right, the signature never is. */
export const AS_PAYER: Wallet = {
  address: SELF,
  key: createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, randomBytes(32)]),
    format: 'der',
    type: 'pkcs8',
  }),
}

export const SIGNER = createEd25519Signer('main', seedOf('main'))

/** The accounts with which the relayer signs. */
export const SIGNING_CONTEXT: SigningContext = {
  sourceAccount: { address: SELF, signer: SIGNER },
  nonce: undefined,
  account: { address: SELF, signer: SIGNER },
}

/** The relayer's account with these rules. */
export function accountWith(policies: SolanaPolicies = {}): SolanaAccount {
  return { address: SELF, policies }
}

/** A request of this transaction, or these instructions. */
export function requestOf(content: Partial<SolanaRequest>): SolanaRequest {
  return { type: 'solana', speed: 'fast', ...content }
}

/** An instruction of tests as one of a request. */
export function instructionOf({ program, accounts, data }: Step): SolanaInstruction {
  return {
    programId: program,
    accounts: accounts.map((use) => ({
      pubkey: use.address,
      isSigner: use.signs === true,
      isWritable: use.writes === true,
    })),
    data: Buffer.from(data).toString('base64'),
  }
}

/** A request of these instructions. */
export function instructionsOf(...steps: readonly Step[]): SolanaRequest {
  return requestOf({ instructions: steps.map(instructionOf) })
}

/** A network that makes blocks only when told, with a funded relayer, and a chain on it. */
export interface Stage {
  readonly solana: TestSolana
  readonly chain: SolanaChain
  /** A chain on other endpoints of the network; the first is asked first. */
  chainAt(...urls: readonly string[]): SolanaChain
  /** A prebuilt transaction that the relayer pays for and these have signed. */
  prebuilt(steps: readonly Step[], ...cosigners: readonly Wallet[]): SolanaRequest
  /** The same with the durable nonce of this account, which the first of them may advance. */
  durable(nonce: Address, steps: readonly Step[], ...cosigners: readonly [Wallet, ...Wallet[]]): SolanaRequest
}

export interface StageOptions extends SolanaOptions {
  readonly clock?: Clock
  readonly log?: Logger
}

export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const { clock = createHurriedClock(), log = createLogger({ level: 'silent' }), ...rest } = options
  const solana = await startSolana({ slotMs: 'manual', ...rest })
  onTestFinished(() => solana.stop())
  solana.airdrop(SELF, 10n * SOL)
  solana.airdrop(OTHER, SOL)
  const chainAt = (...urls: readonly string[]) =>
    createSolanaChain({
      network: {
        type: 'solana',
        name: 'local',
        genesisHash: solana.genesisHash,
        isTestnet: true,
        averageBlocktimeMs: 20,
        requiredConfirmations: 0,
        rpcUrls: urls.map((url, index) => ({ url, weight: index === 0 ? 100 : 1e-9 })),
      },
      // Far more than any answer needs: a busy machine decides nothing here.
      rpcTimeoutMs: 60_000,
      clock,
      log,
    })
  return {
    solana,
    chainAt,
    chain: chainAt(solana.url),
    durable: (nonce, steps, ...cosigners) => {
      const state = solana.account(nonce)?.data.subarray(40, 72) ?? new Uint8Array()
      const content = {
        signers: [AS_PAYER, ...cosigners],
        blockhash: getBase58Decoder().decode(state),
        steps: [advanceNonce(nonce, cosigners[0].address), ...steps],
      } as const
      return requestOf({ transaction: signContent(content).base64 })
    },
    prebuilt: (steps, ...cosigners) => {
      // Wallets take the blockhash of a confirmed block.
      const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
      return requestOf({
        transaction: signContent({ signers: [AS_PAYER, ...cosigners], blockhash, steps }).base64,
      })
    },
  }
}

/** The prepared draft. */
export function draftOf(answer: Answer<Prepared<SolanaDraft>> | SetupRequired<SolanaRequest>): SolanaDraft {
  if (answer.kind !== 'ok') throw new Error(JSON.stringify(answer))
  return answer.value.draft
}

/** The answer after this many blocks that what is missing is not only too new; before them it is unknown (I6). */
export async function afterSpeedUpDelay<T extends { readonly kind: string }>(
  { solana }: Stage,
  ask: () => Promise<T>,
): Promise<T> {
  const first = await ask()
  if (first.kind !== 'unknown') throw new Error(JSON.stringify(first))
  solana.tick(62)
  const second = await ask()
  if (second.kind !== 'unknown') throw new Error(JSON.stringify(second))
  solana.tick(2)
  return ask()
}

/** Prepared, signed, and taken by a node. */
export async function sendOn(
  chain: SolanaChain,
  request: SolanaRequest,
  account: SolanaAccount = accountWith(),
): Promise<SolanaAttempt> {
  const draft = draftOf(await chain.prepare(request, account))
  const signed = await chain.sign(draft, SIGNING_CONTEXT)
  const [result] = await chain.broadcast([signed.raw])
  if (result?.kind !== 'accepted') throw new Error(JSON.stringify(result))
  return {
    number: 1,
    kind: 'send',
    sourceAccount: SELF,
    draft,
    signed,
    signedAt: new Date(0),
    outcome: 'broadcast',
  }
}

/** An address that no one has a key of. */
export function someAddress(fill: number): Address {
  return getAddressDecoder().decode(Buffer.alloc(32, fill))
}
