import { RemoteFault } from '../../remote/remote-key.ts'
import type { Curve } from '../../signer.ts'
import type { KeySelector } from '../protocol.ts'
import type { Handle, Library, Template } from './library.ts'
import { CLASS, EC_PARAMS, EC_POINT, ID, LABEL, PRIVATE_KEY, PUBLIC_KEY } from './numbers.ts'

/** A key pair as a token has it. */
export interface KeyPair {
  readonly curve: Curve
  /** Valid as long as the session that found it. */
  readonly privateKey: Handle
  /** The attribute CKA_EC_POINT. */
  readonly point: Uint8Array
}

/** The names of curves in CKA_EC_PARAMS, in DER: object identifiers (SEC 2, RFC 8410, GnuPG) and a name (PKCS#11 3.0). */
const CURVES: Readonly<Record<string, Curve>> = {
  '06052b8104000a': 'secp256k1',
  '06032b6570': 'ed25519',
  '06092b06010401da470f01': 'ed25519',
  '130c656477617264733235353139': 'ed25519',
}

/** Two are enough to see that a selector is ambiguous. */
const MAX_FOUND = 2

interface Session {
  readonly library: Library
  readonly session: Handle
}

/**
 * Finds a key pair. The public key stands beside the private one with the same label or id, as the tools of HSMs make it.
 * @throws RemoteFault `refused` when there is none, when there are several, and for a curve that no relayer has
 */
export function findKeyPair(at: Session, key: KeySelector): KeyPair {
  const selector: Template = [
    'label' in key ? { type: LABEL, value: key.label } : { type: ID, value: Buffer.from(key.id, 'hex') },
  ]
  const privateKey = findOne(at, [{ type: CLASS, value: PRIVATE_KEY }, ...selector], 'private key')
  const publicKey = findOne(at, [{ type: CLASS, value: PUBLIC_KEY }, ...selector], 'public key')
  const [params, point] = at.library.C_GetAttributeValue(at.session, publicKey, [
    { type: EC_PARAMS },
    { type: EC_POINT },
  ])
  const curve = CURVES[params?.value.toString('hex') ?? '']
  if (curve === undefined || point === undefined)
    throw new RemoteFault('refused', 'is of a curve that no relayer has: it must be secp256k1 or ed25519')
  return { curve, privateKey, point: Uint8Array.from(point.value) }
}

function findOne(at: Session, template: Template, what: string): Handle {
  const [found, another] = find(at, template)
  if (found === undefined) throw new RemoteFault('refused', `does not exist: its token has no such ${what}`)
  if (another !== undefined)
    throw new RemoteFault(
      'refused',
      `is not the only one: its token has more than one such ${what}; name its key_id`,
    )
  return found
}

function find({ library, session }: Session, template: Template): Handle[] {
  library.C_FindObjectsInit(session, template)
  try {
    return library.C_FindObjects(session, MAX_FOUND)
  } finally {
    library.C_FindObjectsFinal(session)
  }
}
