import { createHash } from 'node:crypto'
import type { Address } from '@solana/kit'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { associatedAddress, plantMint } from '../../../simulators/solana/tokens.ts'
import {
  createWallet,
  signContent,
  unitLimit,
  unitPrice,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import { AS_PAYER } from '../../../test/chains/solana/build.ts'
import {
  GENESIS,
  holdTokens,
  memo,
  SOLANA_NETWORK,
  solanaBody,
  transferChecked,
} from '../../../test/plugins/x402/solana-payment.ts'
import { startFaultyNode } from '../../../test/support/faulty-node.ts'
import type { Random } from '../../../test/support/random.ts'
import { MAIN, RECEIVER, SOL, solanaConfig, transfer } from '../../../test/support/solana-scenario.ts'
import { AMOUNT, type FrontChain, type Order, type PayerKind } from './front-chain.ts'

/** Time between blocks, in ms: a blockhash lives 150 of them. */
const SLOT_MS = 250

/** What a payment asks for; its two signatures cost 10000 lamports. */
const UNITS = 60_000
const MAX_FEE = 20_000n

/** Starts a network that makes blocks when it is told, and a node in front of it that can fail. */
export async function startSolanaFront(random: Random, rules: object): Promise<FrontChain> {
  const solana = await startSolana({ slotMs: 'manual', genesisHash: GENESIS })
  const node = await startFaultyNode(solana.url, { replica: (behind) => solana.replica({ behind }) })
  const [merchant, mint] = [createWallet().address, createWallet().address]
  solana.airdrop(MAIN, 10n * SOL)
  solana.airdrop(RECEIVER, SOL)
  plantMint(solana, mint, { decimals: 6 })
  await holdTokens(solana, { owner: merchant, mint, amount: 0n })

  async function sign(kind: PayerKind, payer: Wallet, of: Address): Promise<Order> {
    const [source, destination] = await Promise.all(
      [payer.address, merchant].map((owner) => associatedAddress(owner, of)),
    )
    if (source === undefined || destination === undefined) throw new Error('both are known')
    const pay = transferChecked({ source, mint: of, destination, authority: payer.address, amount: AMOUNT })
    const { base64, message } = signContent({
      signers: [AS_PAYER, payer],
      blockhash: solana.blocks.at(-2)?.blockhash ?? '',
      steps: [unitLimit(UNITS), unitPrice(1n), pay, memo(String(random.int(0, 2 ** 31)))],
    })
    const paid = () =>
      applied(solana).find(
        ({ transaction, err }) => err === null && Buffer.from(transaction.message.bytes).equals(message),
      )
    return {
      body: solanaBody({ transaction: base64, mint: of, payTo: merchant, feePayer: MAIN, amount: AMOUNT }),
      identity: [of, payer.address, destination, createHash('sha256').update(message).digest('hex')],
      payer: payer.address,
      kind,
      // What is planted was always so: nothing may change after the payment.
      takeBack: async () => {
        if (!paid()) await holdTokens(solana, { owner: payer.address, mint: of, amount: 0n })
      },
      paidIn: async () => paid()?.signature,
    }
  }

  const order: FrontChain['order'] = async (kind, { payments, funds }) => {
    const payer = createWallet()
    const of = kind === 'token' ? createWallet().address : mint
    if (kind === 'token') {
      plantMint(solana, of, { decimals: 6 })
      await holdTokens(solana, { owner: merchant, mint: of, amount: 0n })
    }
    await holdTokens(solana, { owner: payer.address, mint: of, amount: AMOUNT * BigInt(funds) })
    return Promise.all(Array.from({ length: payments }, () => sign(kind, payer, of)))
  }

  const {
    networks = [],
    signers = [],
    relayers = [],
  } = solanaConfig(solana, {
    urls: [node.url],
    policies: { rules },
  })
  return {
    network: SOLANA_NETWORK,
    asset: mint,
    otherPayee: RECEIVER,
    node,
    config: { networks, signers, relayers },
    lies: {
      'is behind': { behind: 2 },
      'denies signatures': {
        lie: ({ method }, reply) =>
          method === 'getSignatureStatuses'
            ? { ...reply, result: { ...(reply.result as object), value: [null] } }
            : reply,
      },
      'fails simulations': {
        lie: ({ method }, reply) =>
          method === 'simulateTransaction' ? { ...reply, result: undefined, error: LATER } : reply,
      },
    },
    ownRequest: transfer(1n),
    kinds: ['honest', 'token'],
    maxFee: MAX_FEE,
    blockMs: SLOT_MS,
    makeBlock: async () => solana.tick(),
    order,
    relayed: async () =>
      applied(solana)
        .filter(({ keys }) => keys[0] === MAIN)
        .map(({ signature, fee, keys, transaction }) => ({
          hash: signature,
          fee,
          payer: transaction.signatures.length > 1 ? keys[1] : undefined,
          problem: fee > MAX_FEE ? `a fee of ${fee} was paid` : undefined,
        })),
    received: async () => {
      const account = solana.account(await associatedAddress(merchant, mint))
      return account ? Buffer.from(account.data).readBigUInt64LE(64) : 0n
    },
    stop: async () => {
      await node.stop()
      await solana.stop()
    },
  }
}

/** The node's refusal of a request that it may answer later. */
const LATER = { code: -32_005, message: 'Node is behind by 42 slots' }

function applied({ blocks }: TestSolana) {
  return blocks
    .flatMap(({ transactions }) => transactions)
    .filter(({ mayComeAgain }) => mayComeAgain !== true)
}
