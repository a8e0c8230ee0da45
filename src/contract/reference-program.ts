import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { builtFile, isMissingPackage, readIfThere } from '../lib/package-files.ts'

/** `prepare` copies the program of the reference page here. */
export const REFERENCE_PROGRAM = builtFile('redoc.js')

/** Redoc shows a logo from its own host, its only external resource. An empty image replaces it; the text beside it stays. */
const EXTERNAL_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const EMPTY_IMAGE = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E'

/**
 * Reads the program of the reference page. A checkout that was installed without scripts takes it from the development dependency. Returns
 * undefined when neither is there.
 */
export async function readReferenceProgram(file: string = REFERENCE_PROGRAM): Promise<string | undefined> {
  const program = (await readIfThere(file)) ?? (await readFromPackage())
  return program?.replaceAll(EXTERNAL_LOGO, EMPTY_IMAGE)
}

async function readFromPackage(): Promise<string | undefined> {
  try {
    return await readFile(createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js'), 'utf8')
  } catch (error) {
    if (isMissingPackage(error, 'redoc')) return undefined
    throw error
  }
}
