/** The area to keep is not inside the picture. */
export class AreaFault extends Error {}
