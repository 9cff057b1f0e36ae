package walk
