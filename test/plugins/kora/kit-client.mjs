// A program of a user of Kora's kit client, with its defaults: it sends tokens to a friend and pays for that in tokens. It runs in a folder where npm has
// installed `@solana/kora` with the versions that it asks for.
import { address, createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { createKitKoraClient } from '@solana/kora'
import { getTransferInstruction } from '@solana-program/token'

const { endpoint, rpcUrl, feeToken, seed, source, destination } = JSON.parse(process.argv[2])
const feePayerWallet = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
const client = await createKitKoraClient({ endpoint, rpcUrl, feeToken: address(feeToken), feePayerWallet })
const gift = getTransferInstruction({
  source: address(source),
  destination: address(destination),
  authority: feePayerWallet,
  amount: 2_000_000n,
})
const result = await client.sendTransaction([gift])
console.log(JSON.stringify({ signature: result.context.signature }))
