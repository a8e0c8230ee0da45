import type { NetworkOf, NetworkType } from '../networks/network.ts'
import type { Curve } from '../signers/signer.ts'
import type { Draft } from './attempt.ts'
import type { ContentReader } from './capabilities.ts'
import type { Chain, Unit } from './chain.ts'
import type { Transfers } from './effects.ts'
import { evmTransfers } from './evm/effects/transfers.ts'
import { EVM_CONTENT, READ_METHODS as EVM_METHODS } from './evm/family.ts'
import type { ChainRequest } from './request.ts'
import type { ChainOptions } from './rpc/connect.ts'
import { solanaTransfers } from './solana/effects/transfers.ts'
import { SOLANA_CONTENT, READ_METHODS as SOLANA_METHODS } from './solana/family.ts'
import { stellarTransfers } from './stellar/effects/transfers.ts'
import { STELLAR_CONTENT, READ_METHODS as STELLAR_METHODS } from './stellar/family.ts'

/**
 * A type of networks, as far as it is known without a network of it. A further type is a row of `FAMILIES`
 * and a folder beside.
 */
export interface ChainFamily<T extends NetworkType = NetworkType> {
  /** The smallest unit of the native currency. */
  readonly unit: Unit
  /** The curve of its accounts. */
  readonly curve: Curve
  /**
   * Loads the function that writes the address of a public key. It needs the libraries of the type, as `load`
   * does.
   */
  loadAddress(): Promise<(publicKey: Uint8Array) => string>
  /** The name of the number that orders an account's transactions; absent if accounts have none. */
  readonly numbering?: 'nonce' | 'sequence number'
  /** The hashes by which the networks know transactions. */
  readonly hash: RegExp
  /** Reads stored content. It needs no endpoint, so it also reads what removed relayers sent. */
  readonly content: ContentReader
  /**
   * Reads from the bytes of a request that passed `check`, or of what was signed for it, what it moves if it
   * succeeds, from any account. `address` is that of the relayer's account.
   */
  transfers(content: ChainRequest | Draft, address: string): Transfers
  /** The chain tells of an included transaction (`moved`) everything but its native currency. */
  readonly hidesNative?: true
  /** The RPC methods that every relayer may pass on: reads, prices and simulations. */
  readonly readMethods: readonly string[]
  /**
   * Loads the maker of chains. The libraries of Solana and Stellar take a tenth and a third of a second, so
   * only their relayers load them.
   */
  load(): Promise<(options: ChainOptions<NetworkOf<T>>) => Chain>
}

/**
 * The properties of each type of networks. Code outside this folder uses this, or a capability of the chain,
 * and never compares types.
 */
export const FAMILIES: { readonly [T in NetworkType]: ChainFamily<T> } = {
  evm: {
    unit: 'wei',
    curve: 'secp256k1',
    loadAddress: async () => (await import('../signers/secp256k1.ts')).evmAddress,
    numbering: 'nonce',
    hash: /^0x[0-9a-f]{64}$/,
    content: EVM_CONTENT,
    transfers: evmTransfers,
    hidesNative: true, // No event tells of it.
    readMethods: EVM_METHODS,
    load: async () => (await import('./evm/evm-chain.ts')).createEvmChain,
  },
  solana: {
    unit: 'lamports',
    curve: 'ed25519',
    loadAddress: async () => (await import('../signers/ed25519.ts')).solanaAddress,
    hash: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/,
    content: SOLANA_CONTENT,
    transfers: solanaTransfers,
    readMethods: SOLANA_METHODS,
    load: async () => (await import('./solana/solana-chain.ts')).createSolanaChain,
  },
  stellar: {
    unit: 'stroops',
    curve: 'ed25519',
    loadAddress: async () => (await import('../signers/ed25519.ts')).stellarAddress,
    numbering: 'sequence number',
    hash: /^[0-9a-f]{64}$/,
    content: STELLAR_CONTENT,
    transfers: stellarTransfers,
    readMethods: STELLAR_METHODS,
    load: async () => (await import('./stellar/stellar-chain.ts')).createStellarChain,
  },
}
