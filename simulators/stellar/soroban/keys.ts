import { createHash } from 'node:crypto'
import { Address, xdr } from '@stellar/stellar-sdk'
import type { Network } from '../network.ts'
import type { ContractEntry } from '../state/entries.ts'

/** The life of contract data; temporary data disappears afterwards, persistent data is archived (CAP-46-12). */
export type Durability = 'persistent' | 'temporary'

/** The key of a value that a contract (C…) keeps. */
export function dataLedgerKey(contract: string, key: xdr.ScVal, durability: Durability): xdr.LedgerKey {
  return xdr.LedgerKey.contractData(
    new xdr.LedgerKeyContractData({
      contract: Address.fromString(contract).toScAddress(),
      key,
      durability: xdr.ContractDataDurability[durability],
    }),
  )
}

/** Returns the key of a contract's instance, which names its code. */
export function instanceLedgerKey(contract: string): xdr.LedgerKey {
  return dataLedgerKey(contract, xdr.ScVal.scvLedgerKeyContractInstance(), 'persistent')
}

/** The key of code, by its SHA-256 in hex. */
export function codeLedgerKey(wasmHash: string): xdr.LedgerKey {
  return xdr.LedgerKey.contractCode(new xdr.LedgerKeyContractCode({ hash: new xdr.Hash(wasmHash) }))
}

/** The key under which the nonce of a signed authorisation is remembered until it expires (CAP-46-11). */
export function nonceLedgerKey(address: string, nonce: bigint): xdr.LedgerKey {
  return dataLedgerKey(address, xdr.ScVal.scvLedgerKeyNonce(new xdr.ScNonceKey({ nonce })), 'temporary')
}

/** An entry that holds `value` under a key of contract data. */
export function dataEntry(key: xdr.LedgerKey, value: xdr.ScVal, liveUntil: number): ContractEntry {
  if (key.type !== 'contractData') throw new Error('This is no key of contract data.')
  const { contract, durability } = key.contractData
  const data = xdr.LedgerEntryData.contractData(
    new xdr.ContractDataEntry({
      ext: xdr.ExtensionPoint.v0(),
      contract,
      key: key.contractData.key,
      durability,
      val: value,
    }),
  )
  return { kind: 'contract', ledgerKey: key.toXdr('base64'), data, liveUntil }
}

/** An entry that holds code. */
export function codeEntry(wasm: Uint8Array, liveUntil: number): ContractEntry {
  const hash = sha256(wasm)
  const data = xdr.LedgerEntryData.contractCode(
    new xdr.ContractCodeEntry({
      ext: xdr.ContractCodeEntryExt.v0(),
      hash: new xdr.Hash(hash),
      code: wasm,
    }),
  )
  return { kind: 'contract', ledgerKey: codeLedgerKey(hash).toXdr('base64'), data, liveUntil }
}

/** An entry that makes a contract run `executable`. */
export function instanceEntry(
  contract: string,
  executable: xdr.ContractExecutable,
  liveUntil: number,
): ContractEntry {
  const instance = new xdr.ScContractInstance({ executable, storage: null })
  return dataEntry(instanceLedgerKey(contract), xdr.ScVal.scvContractInstance(instance), liveUntil)
}

/** Returns true if an entry under this key can only be archived, never deleted. */
export function isPersistent(key: xdr.LedgerKey): boolean {
  return (
    key.type === 'contractCode' ||
    (key.type === 'contractData' && key.contractData.durability.name === 'persistent')
  )
}

/** The address of the contract that is made from `preimage` (CAP-46-02). */
export function contractAddress(contractIdPreimage: xdr.ContractIdPreimage, network: Network): string {
  const preimage = xdr.HashIdPreimage.envelopeTypeContractId(
    new xdr.HashIdPreimageContractId({ networkId: new xdr.Hash(network.id), contractIdPreimage }),
  )
  return Address.contract(Buffer.from(sha256(preimage.toXdr()), 'hex')).toString()
}

/** SHA-256, in hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
