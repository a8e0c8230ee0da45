import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { libsecp256k1 } from '../../../src/signers/secp256k1.ts'

/** The beginning of a SubjectPublicKeyInfo of an uncompressed secp256k1 point (RFC 5480). */
const SPKI_PREFIX = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex')

/** A service with the two operations of AWS KMS that signing needs. */
export interface SlowKms {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a service that answers each call after this many ms, as a KMS in the same region does. It checks no credentials. */
export async function startSlowKms(privateKey: Uint8Array, delayMs: number): Promise<SlowKms> {
  const server = createServer((request, response) => {
    void readBody(request).then((body) =>
      setTimeout(() => {
        response.setHeader('content-type', 'application/x-amz-json-1.1')
        response.end(JSON.stringify(answer(request.headers['x-amz-target'], body, privateKey)))
      }, delayMs),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<{ readonly Message?: string }> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as { Message?: string }
}

function answer(
  target: IncomingMessage['headers'][string],
  { Message = '' }: { readonly Message?: string },
  privateKey: Uint8Array,
): object {
  const secp256k1 = libsecp256k1()
  if (target === 'TrentService.GetPublicKey') {
    const key = Buffer.concat([SPKI_PREFIX, secp256k1.publicKeyCreate(privateKey, false)])
    return { KeySpec: 'ECC_SECG_P256K1', KeyUsage: 'SIGN_VERIFY', PublicKey: key.toString('base64') }
  }
  const { signature } = secp256k1.ecdsaSign(Buffer.from(Message, 'base64'), privateKey)
  return { Signature: Buffer.from(secp256k1.signatureExport(signature)).toString('base64') }
}
